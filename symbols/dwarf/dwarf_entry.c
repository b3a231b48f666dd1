/*
 * Where a function begins: are its parameters in the places yet that debug
 * information gives them?
 *
 * Without optimisation a compiler says one place for a parameter, in the frame,
 * as if it held for all of the function; but the first instructions only build
 * the frame and put the parameters there.  A debugger stops behind them.  An
 * entry probe does not, so there the calling convention is asked instead
 * (dwarf_passed()).
 */
#include <dwarf.h>

#include "symbols/dwarf/dwarf_scope.h"
#include "dlang/base/sorted.h"
#include "symbols/dwarf/entries.h"

/* A compiler that marks where the prologue ends does so early. */
#define ROWS_LOOKED_AT 64

static Dwarf_Addr
row_addr(Dwarf_Lines *rows, size_t i)
{
	Dwarf_Addr at = 0;

	dwarf_lineaddr(dwarf_onesrcline(rows, i), &at);
	return at;
}

/* The first row behind addr, by address. */
static size_t
row_behind(Dwarf_Lines *rows, size_t n, uint64_t addr)
{
	return sorted_count(n, i, row_addr(rows, i) <= addr);
}

/* Where it ends: at the row that says so, else at the second one. */
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
