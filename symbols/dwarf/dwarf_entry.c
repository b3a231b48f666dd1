/*
 * At the begin of a function: are its parameters already at the places that the
 * debug information gives?
 *
 * Without optimisation a compiler gives one place in the frame for a parameter,
 * as if it were valid in the whole function. But the first instructions (the
 * prologue) only create the frame and store the parameters there. A debugger
 * stops behind the prologue. An entry probe fires before it, so the calling
 * convention gives the place then (dwarf_passed()).
 */
#include <dwarf.h>

#include "symbols/dwarf/dwarf_scope.h"
#include "dlang/base/sorted.h"
#include "symbols/dwarf/entries.h"

/* A compiler that marks the end of the prologue does so in one of the first
 * rows. */
#define ROWS_LOOKED_AT 64

static Dwarf_Addr
row_addr(Dwarf_Lines *rows, size_t i)
{
	Dwarf_Addr at = 0;

	dwarf_lineaddr(dwarf_onesrcline(rows, i), &at);
	return at;
}

/* The first row with an address above addr. */
static size_t
row_behind(Dwarf_Lines *rows, size_t n, uint64_t addr)
{
	return sorted_count(n, i, row_addr(rows, i) <= addr);
}

/* The end of the prologue: the row that is marked so, else the second row. */
static uint64_t
prologue_end(struct dwarf_scopes *s, uint64_t low)
{
	Dwarf_Lines *rows;
	Dwarf_Addr high, at, end = low;
	size_t n;

	if (dwarf_getsrclines(&s->lines, &rows, &n) != 0 ||
	    dwarf_highpc(&s->at[0], &high) != 0)
		return low;
	size_t first = row_behind(rows, n, low);
	for (size_t i = first; i < n && i - first < ROWS_LOOKED_AT; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		bool marked = false;

		if (dwarf_lineaddr(row, &at) != 0 || at >= high)
			break;
		dwarf_lineprologueend(row, &marked);
		if (marked)
			return at;
		if (i == first)
			end = at;
	}
	return end;
}

bool
dwarf_in_prologue(struct dwarf_scopes *s, uint64_t addr)
{
	Dwarf_Addr low;

	if (!dwarf_func_entry(&s->at[0], &low) || addr < low)
		return false;
	return addr == low || addr < prologue_end(s, low);
}
