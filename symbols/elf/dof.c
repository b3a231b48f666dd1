/*
 * Types of the arguments of static probes, from DOF; see sdt.h and dof.h.
 *
 * The linker appends the tables of several objects to each other. The data is
 * not trusted: whatever refers to something outside of the section counts as
 * absent.
 */
#include "symbols/dof.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/parts.h"
#include "symbols/sdt.h"

struct dof {
	const uint8_t *at;
	size_t size;
	struct dof_header h;
	size_t rows; /* the number of probes that may still be read: as many
		      * as fit in the section. More would be the same probes
		      * again */
};

struct piece {
	const uint8_t *at;
	size_t size;
};

/* The n-th section, if it is of that kind. */
static bool
section(const struct dof *d, uint32_t n, enum dof_kind kind, struct piece *out)
{
	struct dof_section s;

	if (n >= d->h.count || d->h.entry_size < sizeof(s) ||
	    d->h.table > d->size)
		return false;
	uint64_t off = d->h.table + (uint64_t)n * d->h.entry_size;
	if (off > d->size || d->size - off < sizeof(s))
		return false;
	memcpy(&s, d->at + off, sizeof(s));
	if (s.kind != kind || s.offset > d->size || s.size > d->size - s.offset)
		return false;
	*out = (struct piece){ d->at + s.offset, s.size };
	return true;
}

static const char *
string_at(const struct piece *strings, uint64_t off)
{
	if (off >= strings->size ||
	    memchr(strings->at + off, '\0', strings->size - off) == NULL)
		return NULL;
	return (const char *)strings->at + off;
}

static bool
is_string(const struct piece *strings, uint64_t off, const char *s)
{
	size_t n = strlen(s) + 1;

	return off <= strings->size && strings->size - off >= n &&
	    memcmp(strings->at + off, s, n) == 0;
}

/* Read so many consecutive strings. Returns how many there are. */
static size_t
take_types(const struct piece *strings, uint64_t off, size_t n,
    const char *out[SDT_TYPES_MAX])
{
	size_t i;

	for (i = 0; i < n && i < SDT_TYPES_MAX; i++) {
		out[i] = string_at(strings, off);
		if (out[i] == NULL)
			break;
		off += strlen(out[i]) + 1;
	}
	return i;
}

static void
take_probe(const struct dof *d, const struct dof_provider *p,
    const struct piece *strings, const struct dof_probe *pr,
    struct sdt_types *out)
{
	struct piece map;

	out->nargs = take_types(strings, pr->args, pr->nargs, out->args);
	out->nxargs = take_types(strings, pr->xargs, pr->nxargs, out->xargs);
	bool mapped = section(d, p->map, DOF_MAP, &map);
	for (size_t i = 0; i < out->nxargs; i++) {
		uint64_t at = (uint64_t)pr->map + i;
		out->map[i] = (uint8_t)i;
		if (mapped && at < map.size)
			out->map[i] = map.at[at];
	}
}

/* What is looked for. */
struct wanted {
	const char *prov, *function, *name;
};

/* The probe in the function, or else the first of that name. */
static bool
find_probe(struct dof *d, const struct dof_provider *p, const struct wanted *w,
    struct sdt_types *out)
{
	struct piece strings, probes;
	struct dof_probe pr, first = { 0 };
	bool any = false;

	if (!section(d, p->strings, DOF_STRINGS, &strings) ||
	    !section(d, p->probes, DOF_PROBES, &probes) ||
	    !is_string(&strings, p->name, w->prov))
		return false;
	for (size_t off = 0; probes.size - off >= sizeof(pr) && d->rows > 0;
	     off += sizeof(pr), d->rows--) {
		memcpy(&pr, probes.at + off, sizeof(pr));
		if (!is_string(&strings, pr.name, w->name))
			continue;
		if (!any)
			first = pr;
		any = true;
		if (w->function == NULL ||
		    is_string(&strings, pr.function, w->function)) {
			first = pr;
			break;
		}
	}
	if (any)
		take_probe(d, p, &strings, &first, out);
	return any;
}

static bool
find(struct dof *d, const struct wanted *w, struct sdt_types *out)
{
	struct dof_provider p;
	struct piece s;

	for (uint32_t i = 0; i < d->h.count; i++) {
		if (!section(d, i, DOF_PROVIDER, &s) || s.size < sizeof(p))
			continue;
		memcpy(&p, s.at, sizeof(p));
		if (find_probe(d, &p, w, out))
			return true;
	}
	return false;
}

/* The next table in a section that may contain several, padded to 8 bytes. */
static bool
next(struct piece *s, struct dof *d)
{
	static const uint8_t magic[] = { 0x7f, 'D', 'O', 'F' };

	if (s->size < sizeof(d->h))
		return false;
	memcpy(&d->h, s->at, sizeof(d->h));
	if (memcmp(d->h.magic, magic, sizeof(magic)) != 0 ||
	    d->h.encoding != DOF_LITTLE || d->h.file_size < sizeof(d->h) ||
	    d->h.file_size > s->size)
		return false;
	d->at = s->at;
	d->size = d->h.file_size;
	d->rows = d->size / sizeof(struct dof_probe);
	/* A table must not be longer than the file. */
	d->h.count =
	    (uint32_t)MIN(d->h.count, d->size / sizeof(struct dof_section));
	size_t used = MIN(ROUND_UP(d->size, 8), s->size);
	s->at += used;
	s->size -= used;
	return true;
}

int
object_sdt_types(struct object *o, const char *provider, const char *function,
    const char *name, struct sdt_types *out)
{
	const struct wanted w = { provider, function, name };
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, DOF_SECTION, &sh);
	Elf_Data *data = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	struct dof d;

	*out = (struct sdt_types){ 0 };
	if (data == NULL)
		return -ENOENT;
	struct piece s = { data->d_buf, data->d_size };
	while (next(&s, &d))
		if (find(&d, &w, out))
			return 0;
	return -ENOENT;
}
