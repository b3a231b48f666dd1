/*
 * -x report: the pictures and the file they go to.
 *
 * The file is made beside its place under a name that nobody can guess, and
 * takes its place when it is whole: a reader never sees half of it, and a link
 * that somebody has put there leads nowhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/consume/picture.h"

/* ---- text ---- */

/* The character that s begins with, and its bytes; U+FFFD where there is none
 * that XML can hold. */
static uint32_t
svg_char(const char *s, size_t *len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t n = text_symbol(s, strlen(s));
	uint32_t c = n < 2 ? u[0] : u[0] & (0x7fU >> n);

	*len = MAX(n, 1);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (u[i] & 0x3f);
	if (n == 0 || c < least[n] || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000) || c == 0xfffe || c == 0xffff)
		return 0xfffd;
	return c;
}

static void
svg_add(struct str *to, uint32_t c)
{
	switch (c) {
	case '&': str_add(to, "&amp;"); break;
	case '<': str_add(to, "&lt;"); break;
	case '>': str_add(to, "&gt;"); break;
	case '"': str_add(to, "&quot;"); break;
	default: text_add_utf8(to, c); break;
	}
}

void
svg_text(struct str *to, const char *s)
{
	size_t n;

	for (; *s != '\0'; s += n)
		svg_add(to, svg_char(s, &n));
}

void
svg_cut(struct str *to, const char *s, size_t chars)
{
	size_t all = 0, n, i = 0;

	for (const char *at = s; *at != '\0'; at += n, all++)
		svg_char(at, &n);
	for (; *s != '\0' && (all <= chars || i + 2 < chars); s += n, i++)
		svg_add(to, svg_char(s, &n));
	str_add(to, *s != '\0' ? ".." : "");
}

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
	svg_text(&pic->body, text);
	str_add(&pic->body, "</title>");
	svg_cut(&pic->body, text,
	    (size_t)((PICTURE_WIDTH - 2 * PICTURE_MARGIN) / 8));
	str_add(&pic->body, "</text>\n");
	pic->y += PICTURE_ROW + PICTURE_ROW / 2;
}

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
	str_addn(to, pic->body.s, pic->body.len);
	str_add(to, "<script><![CDATA[\n");
	str_add(to, picture_js);
	str_add(to, "]]></script>\n</svg>\n");
}

/* ---- the file ---- */

/* As open() would have made it. */
static int
file_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask);
}

static int
file_fill(int fd, const struct str *text)
{
	for (size_t done = 0; done < text->len;) {
		ssize_t n = write(fd, text->s + done, text->len - done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return file_mode(fd) != 0 ? -errno : 0;
}

static int
file_replace(const char *path, const struct str *text)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	/* A device, a link, a directory: not ours to replace. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return -EEXIST;
	char *temp = mem_printf("%.*s.dtrap-report-XXXXXX",
	    slash != NULL ? (int)(slash + 1 - path) : 0, path);
	int fd = mkostemp(temp, O_CLOEXEC);
	int r = fd < 0 ? -errno : file_fill(fd, text);
	if (fd >= 0 && close(fd) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temp, path) != 0)
		r = -errno;
	if (r != 0 && fd >= 0)
		unlink(temp);
	mem_free(temp);
	return r;
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
	int r = file_replace(path, &text);
	if (r != 0)
		fprintf(c->env.err, "%s: failed to write report '%s': %s\n",
		    c->env.prog, path,
		    r == -EEXIST ? "Not a regular file" : strerror(-r));
	str_fini(&text);
	str_fini(&pic.body);
	return r;
}
