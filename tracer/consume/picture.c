/*
 * The parts that all pictures have; see picture.h.
 */
#include <string.h>

#include "tracer/consume/picture.h"

const char *
picture_name(const struct prog_agg *def)
{
	return strcmp(def->name, "_") == 0 ? "" : def->name;
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
