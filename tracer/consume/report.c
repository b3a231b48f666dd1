/*
 * -x report: the pictures, in one document.
 */
#include <string.h>

#include "tracer/consume/file.h"
#include "tracer/consume/picture.h"

/* ---- the document ---- */

static void
picture_draw(struct picture *pic)
{
	pic->y = 2 * PICTURE_ROW;
	vec_foreach(def, &pic->c->env.globals->aggs) {
		aggs_table(&pic->c->aggs, (*def)->id);
		picture_flame(pic, *def);
		picture_hists(pic, *def);
	}
	if (pic->n == 0)
		picture_head(pic, "No stack and no quantization was recorded.");
	pic->y += PICTURE_MARGIN;
}

static void
picture_document(const struct picture *pic, struct str *to)
{
	str_printf(to,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%u\" viewBox=\"0 0 %d %u\">\n"
	    "<style>\n"
	    "text { font: 11px monospace; }\n"
	    ".head { font-size: 13px; font-weight: bold; }\n"
	    ".box text, .bar text { pointer-events: none; }\n"
	    ".box:hover rect { stroke: #000; cursor: pointer; }\n"
	    ".hit rect { fill: #e3e; }\n"
	    ".tool { fill: #06c; cursor: pointer; }\n"
	    "</style>\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	    "<text id=\"search\" class=\"tool\" x=\"%d\" y=\"%d\">search"
	    "</text><text id=\"reset\" class=\"tool\" x=\"%d\" y=\"%d\">"
	    "whole</text><text id=\"found\" x=\"%d\" y=\"%d\"></text>\n",
	    PICTURE_WIDTH, pic->y, PICTURE_WIDTH, pic->y, PICTURE_MARGIN,
	    PICTURE_ROW, PICTURE_MARGIN + 60, PICTURE_ROW, PICTURE_MARGIN + 120,
	    PICTURE_ROW);
	str_addn(to, own(str_c(&pic->body)), pic->body.len);
	str_add(to, "<script><![CDATA[\n");
	str_add(to, own(picture_js));
	str_add(to, "]]></script>\n</svg>\n");
}

int
consume_pictures(struct consume *c)
{
	const char *path = c->env.opts->text[OPT_REPORT];
	struct picture pic = { .c = c };
	struct str text = { 0 };

	if (path == NULL || *path == '\0')
		return 0;
	picture_draw(&pic);
	picture_document(&pic, &text);
	int r = file_put(c, path, &text);
	if (r != 0)
		consume_message(
		    c, "failed to write report '%s': %s", path, strerror(-r));
	str_fini(&text);
	str_fini(&pic.body);
	return r;
}
