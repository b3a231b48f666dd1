/*
 * Finds the addresses of source lines; see dwarf_source.h.
 *
 * The line table of a unit is a program, and libdw must run all of it to know
 * the files. So the name of the file is first searched as bytes in the sections
 * that may contain it. An object without the name costs no more than that
 * search.
 */
#include "symbols/dwarf_source.h"

#include <string.h>

#include <dwarf.h>

#include "dlang/base/hash.h"
#include "symbols/dwarf/entries.h"

struct row_walk {
	dwarf_file_fn meant;
	dwarf_row_fn each;
	void *ctx;
	struct hash paths; /* of a unit: path -> &yes or &no */
};

static char yes, no;

/* ---- is it worth reading? ---- */

static bool
section_has(Elf_Scn *scn, const char *text, size_t len)
{
	Elf_Data *d = elf_getdata(scn, NULL);

	return d != NULL && d->d_buf != NULL &&
	    memmem(d->d_buf, d->d_size, text, len) != NULL;
}

/* libdw has decompressed the sections when it opened the file. */
static bool
names_file(Dwarf *dbg, const char *base)
{
	static const char *const sections[] = { ".debug_line",
		".debug_line_str", ".debug_str" };
	Elf *elf = dwarf_getelf(dbg);
	Elf_Scn *scn = NULL;
	size_t strings, len = strlen(base) + 1;
	Elf64_Shdr sh;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return true;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!elf_file_shdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_strptr(elf, strings, sh.sh_name);
		for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
			if (name != NULL && strcmp(name, sections[i]) == 0 &&
			    section_has(scn, base, len))
				return true;
	}
	return false;
}

/* ---- rows ---- */

static bool
is_meant(struct row_walk *w, const char *path)
{
	void *known = hash_get(&w->paths, (uintptr_t)path);

	if (known == NULL) {
		known = w->meant(w->ctx, path) ? &yes : &no;
		hash_set(&w->paths, (uintptr_t)path, known);
	}
	return known == &yes;
}

/* Consecutive rows of one line. */
struct run {
	const char *path; /* NULL: a sequence begins */
	int line;
	bool begun; /* a statement has been seen in it */
};

/* Add the next row: it belongs to the run, or begins another one. */
static void
run_take(struct run *run, const char *path, int line)
{
	if (path == run->path && line == run->line)
		return;
	*run = (struct run){ .path = path, .line = line };
}

static void
unit_rows(struct row_walk *w, Dwarf_Die *unit)
{
	struct run run = { 0 };
	Dwarf_Lines *rows;
	size_t n;

	if (dwarf_getsrclines(unit, &rows, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		const char *path = dwarf_linesrc(row, NULL, NULL);
		bool statement = false, end = false;
		Dwarf_Addr addr;
		int line = 0;

		dwarf_lineendsequence(row, &end);
		if (end || path == NULL || dwarf_lineno(row, &line) != 0) {
			run.path = NULL;
			continue;
		}
		run_take(&run, path, line);
		dwarf_linebeginstatement(row, &statement);
		if (run.begun || !statement || line <= 0 ||
		    dwarf_lineaddr(row, &addr) != 0 || !is_meant(w, path))
			continue;
		run.begun = true;
		w->each(w->ctx, path, line, addr);
	}
}

bool
dwarf_rows(struct object *o, const char *base, dwarf_file_fn meant,
    dwarf_row_fn each, void *ctx)
{
	struct row_walk w = { .meant = meant, .each = each, .ctx = ctx };
	Dwarf *dbg = dwarf_handle(o);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	if (dbg == NULL)
		return false;
	if (base != NULL && !names_file(dbg, base))
		return true;
	while (dwarf_get_units(dbg, cu, &cu, NULL, &type, &unit, NULL) == 0) {
		if (unit.addr == NULL || type == DW_UT_type)
			continue;
		unit_rows(&w, &unit);
		hash_fini(&w.paths);
	}
	return true;
}
