/*
 * The notes of static probes; see sdt.h.
 *
 * A note has three addresses, as the linker wrote them, and three strings. The
 * addresses are those of the probe, of a base, and of the semaphore. The base
 * is also the address of a section, so a later change of all addresses is
 * noticed.
 */
#include "symbols/sdt.h"

#include <string.h>

#include "dlang/base/vec.h"
#include "symbols/elf/parts.h"
#include "symbols/sdtarg.h"

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE  3

struct sdt {
	VEC(struct sdt_note) notes;
};

/* The difference by which addresses were changed after linking. */
static uint64_t
base_change(struct object *o, uint64_t base)
{
	Elf64_Shdr sh;

	if (base == 0 ||
	    elf_file_section(&o->file, ".stapsdt.base", &sh) == NULL)
		return 0;
	return sh.sh_addr - base;
}

/* The string at *at; *at moves behind it. NULL if the string has no end. */
static const char *
take_string(const uint8_t **at, const uint8_t *end)
{
	const char *s = (const char *)*at;
	const uint8_t *nul =
	    *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;

	if (nul == NULL)
		return NULL;
	*at = nul + 1;
	return s;
}

static void
take_note(struct object *o, struct sdt *sdt, const uint8_t *at, size_t size)
{
	const uint8_t *end = at + size;
	struct sdt_note n = { 0 };
	uint64_t addr[3];

	if (size < sizeof(addr))
		return;
	memcpy(addr, at, sizeof(addr));
	at += sizeof(addr);
	n.provider = take_string(&at, end);
	n.name = take_string(&at, end);
	n.args = take_string(&at, end);
	if (n.args == NULL || *n.provider == '\0' || *n.name == '\0')
		return;
	uint64_t change = base_change(o, addr[1]);
	n.pc = addr[0] + change;
	n.semaphore = addr[2] != 0 ? addr[2] + change : 0;
	if (object_is_text(o, n.pc))
		*vec_push(&sdt->notes) = n;
}

static void
read_notes(struct object *o, struct sdt *sdt)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, ".note.stapsdt", &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	Elf64_Nhdr h;

	if (d == NULL)
		return;
	const uint8_t *at = d->d_buf;
	size_t left = d->d_size;
	while (left >= sizeof(h)) {
		memcpy(&h, at, sizeof(h));
		uint64_t name = ROUND_UP((uint64_t)h.n_namesz, 4);
		uint64_t desc = ROUND_UP((uint64_t)h.n_descsz, 4);
		uint64_t used = sizeof(h) + name + h.n_descsz;
		if (used > left)
			break;
		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(NOTE_OWNER) &&
		    memcmp(at + sizeof(h), NOTE_OWNER, sizeof(NOTE_OWNER)) == 0)
			take_note(o, sdt, at + sizeof(h) + name, h.n_descsz);
		used = MIN(sizeof(h) + name + desc, left);
		at += used;
		left -= used;
	}
}

static void
sdt_fini(void *part)
{
	struct sdt *sdt = part;

	vec_fini(&sdt->notes);
}

size_t
object_sdt_notes(struct object *o, const struct sdt_note **notes)
{
	struct sdt *sdt = object_part(o, PART_SDT);

	if (sdt == NULL) {
		sdt = object_part_new(o, PART_SDT, sizeof(*sdt), sdt_fini);
		read_notes(o, sdt);
	}
	*notes = sdt->notes.at;
	return sdt->notes.len;
}

int64_t
sdt_truncate(int64_t v, unsigned size, bool is_signed)
{
	switch (size) {
	case 1: return is_signed ? (int8_t)v : (int64_t)(uint8_t)v;
	case 2: return is_signed ? (int16_t)v : (int64_t)(uint16_t)v;
	case 4: return is_signed ? (int32_t)v : (int64_t)(uint32_t)v;
	default: return v;
	}
}
