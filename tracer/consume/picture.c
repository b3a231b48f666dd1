/*
 * The SVG picture; see picture.h.
 */
#include <string.h>

#include "tracer/consume/picture.h"

const char *
picture_name(const struct page_agg *a)
{
	return strcmp(a->name, "_") == 0 ? "" : a->name;
}

void
picture_head(struct picture *pic, const char *text)
{
	str_printf(&pic->body, "<text class=\"head\" x=\"%d\" y=\"%u\"><title>",
	    PICTURE_MARGIN, pic->y + PICTURE_ROW);
	text_add_xml(&pic->body, text);
	str_add(&pic->body, "</title>");
	text_add_xml_cut(&pic->body, text,
	    (size_t)((PICTURE_WIDTH - 2 * PICTURE_MARGIN) / 8));
	str_add(&pic->body, "</text>\n");
	pic->y += PICTURE_ROW + PICTURE_ROW / 2;
}

static void
picture_draw(struct picture *pic)
{
	pic->y = 2 * PICTURE_ROW;
	vec_foreach(a, &pic->page->aggs) {
		page_agg_finish(pic->page, *a);
		picture_flame(pic, *a);
		picture_hists(pic, *a);
	}
	if (pic->n == 0)
		picture_head(pic, "No stack and no quantization was recorded.");
	pic->y += PICTURE_MARGIN;
}

void
page_svg(struct page *p, struct str *to)
{
	struct picture pic = { .page = p };

	picture_draw(&pic);
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
	    PICTURE_WIDTH, pic.y, PICTURE_WIDTH, pic.y, PICTURE_MARGIN,
	    PICTURE_ROW, PICTURE_MARGIN + 60, PICTURE_ROW, PICTURE_MARGIN + 120,
	    PICTURE_ROW);
	str_addn(to, own(str_c(&pic.body)), pic.body.len);
	str_add(to, "<script><![CDATA[\n");
	str_add(to, own(picture_js));
	str_add(to, "]]></script>\n</svg>\n");
	str_fini(&pic.body);
}
