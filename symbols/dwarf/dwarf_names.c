/*
 * Variables, functions and types by name; see dwarf.h.
 */
#include <errno.h>
#include <string.h>

#include <dwarf.h>

#include "symbols/dwarf/entries.h"

struct var_search {
	struct dwtypes *dw;
	struct object *o;
	uint64_t addr;
	struct dwarf_var *out;
	bool found;
	Dwarf_Die die;
};

static enum dwarf_place
place_of_expr(Dwarf_Attribute *attr, uint64_t *addr)
{
	Dwarf_Op *ops;
	size_t n;
	Dwarf_Attribute value;

	if (dwarf_getlocation(attr, &ops, &n) != 0)
		return DWARF_UNSUPPORTED;
	if (n == 0)
		return DWARF_NOWHERE;
	for (size_t i = 0; i < n; i++)
		if (ops[i].atom == DW_OP_GNU_push_tls_address ||
		    ops[i].atom == DW_OP_form_tls_address)
			return DWARF_THREAD;
	if (n != 1)
		return DWARF_UNSUPPORTED;
	if (ops[0].atom == DW_OP_addr) {
		*addr = ops[0].number;
		return DWARF_AT;
	}
	Dwarf_Addr at;
	if ((ops[0].atom == DW_OP_addrx ||
		ops[0].atom == DW_OP_GNU_addr_index) &&
	    dwarf_getlocation_attr(attr, ops, &value) == 0 &&
	    dwarf_formaddr(&value, &at) == 0) {
		*addr = at;
		return DWARF_AT;
	}
	return DWARF_UNSUPPORTED;
}

enum dwarf_place
dwarf_place_of(Dwarf_Die *die, uint64_t *addr)
{
	Dwarf_Attribute attr;
	Dwarf_Addr low;

	if (dwarf_flag(die, DW_AT_declaration))
		return DWARF_ELSEWHERE;
	if (dwarf_tag(die) == DW_TAG_subprogram) {
		if (!dwarf_func_entry(die, &low))
			return DWARF_NOWHERE;
		*addr = low;
		return DWARF_AT;
	}
	if (dwarf_attr(die, DW_AT_location, &attr) == NULL)
		return DWARF_NOWHERE;
	return place_of_expr(&attr, addr);
}

/* How good an answer the place is. Whether its address is the requested one is
 * not considered here. */
static int
place_rank(enum dwarf_place p)
{
	static const int rank[] = { [DWARF_AT] = 4,
		[DWARF_THREAD] = 3,
		[DWARF_UNSUPPORTED] = 2,
		[DWARF_NOWHERE] = 1,
		[DWARF_ELSEWHERE] = 0 };

	return rank[p];
}

static bool
var_seen(void *ctx, Dwarf_Die *die)
{
	struct var_search *s = ctx;
	int tag = dwarf_tag(die);
	uint64_t addr = 0;

	if (tag != DW_TAG_variable && tag != DW_TAG_subprogram)
		return false;
	enum dwarf_place p = dwarf_place_of(die, &addr);
	bool here = p == DWARF_AT && addr == s->addr;

	if (!here && s->found && place_rank(p) <= place_rank(s->out->place))
		return false;
	s->found = true;
	s->die = *die;
	s->out->place = p;
	s->out->addr = addr;
	return here || (s->addr == UINT64_MAX && p == DWARF_AT);
}

int
dwarf_var(struct dwtypes *dw, struct object *o, const char *name, uint64_t addr,
    struct dwarf_var *out)
{
	struct var_search s = { .dw = dw, .o = o, .addr = addr, .out = out };

	*out = (struct dwarf_var){ 0 };
	dwarf_each(o, name, var_seen, &s);
	if (!s.found)
		return -ENOENT;
	out->type = dwarf_tag(&s.die) == DW_TAG_subprogram ?
	    dwtype_func(dw, o, &s.die) :
	    dwtype_named_by(dw, o, &s.die);
	return 0;
}

int
dwarf_type(
    struct dwtypes *dw, struct object *o, const char *name, struct type **out)
{
	static const struct {
		const char *word;
		int tag;
	} words[] = { { "struct ", DW_TAG_structure_type },
		{ "union ", DW_TAG_union_type },
		{ "enum ", DW_TAG_enumeration_type } };
	Dwarf_Die die;
	int tag = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i].word);

		if (strncmp(name, words[i].word, len) == 0) {
			tag = words[i].tag;
			name += len;
			break;
		}
	}
	if (!dwarf_definition(o, tag, name, &die))
		return -ENOENT;
	*out = dwtype_of(dw, o, &die);
	return 0;
}
