/*
 * Checks of subroutines beyond their prototypes.
 */
#include "dlang/cc/check.h"
#include "dlang/cc/view.h"

/* alloca() and copyin(): mark the result as a pointer to scratch memory, if the
 * size fits. */
static int
gives_scratch(struct comp *c, struct node *n, const struct node *size)
{
	int64_t v, max = option_get(c->cc->opts, OPT_SCRATCHSIZE);

	n->flags |= NF_ALLOCA;
	if (!check_const(size, &v) || (v >= 0 && v <= max))
		return 0;
	return comp_error(c, D_ALLOCA_SIZE, n,
	    "%s(%lu) size larger than scratchsize %ld", n->ident->name,
	    (unsigned long)v, (long)max);
}

/* bcopy() and copyinto(): argument i, the destination, must point to scratch
 * memory. */
static int
check_to_scratch(struct comp *c, struct node *n, size_t i)
{
	const struct node *to = n->list->next;

	if (i == 3)
		to = to->next;
	if (!never_scratch(to))
		return 0;
	return comp_error(c, D_PROTO_ARG, to,
	    "%s( ) argument #%zu is incompatible with prototype:\n"
	    "\tprototype: alloca pointer\n\t argument: non-alloca pointer",
	    n->ident->name, i);
}

static int
check_inet_ntoa6(struct comp *c, struct node *n)
{
	int64_t v;

	if (n->list->next == NULL || check_const(n->list->next, &v))
		return 0;
	return comp_error(c, D_PROTO_ARG, n->list->next,
	    "inet_ntoa6( ) argument #2 is incompatible with prototype:\n"
	    "\tprototype: integer constant");
}

/* Is this copyin() of a structure with an address and a length? */
static bool
copies_view(const struct node *n)
{
	struct view v;

	return n->ident->id == DIF_SUBR_COPYIN && n->list != NULL &&
	    n->list->next == NULL && view_of(n->list->type, &v);
}

int
check_subr(struct comp *c, struct node *n)
{
	const struct proto *p = ident_proto(c->cc, n->ident);

	if (check_list(c, n->list) != 0)
		return -EINVAL;
	if (copies_view(n)) {
		n->type = p->result;
		n->flags = NF_CANON | NF_ALLOCA;
		return 0;
	}
	if (check_args(c, n, n->ident, p, "( )") != 0)
		return -EINVAL;
	if ((n->ident->flags & IDF_KERNEL) != 0)
		return check_kernel_only(c, n);
	n->type = p->result;
	n->flags = NF_CANON;
	switch ((enum dif_subr)n->ident->id) {
	case DIF_SUBR_ALLOCA: return gives_scratch(c, n, n->list);
	case DIF_SUBR_COPYIN: return gives_scratch(c, n, n->list->next);
	case DIF_SUBR_BCOPY: return check_to_scratch(c, n, 2);
	case DIF_SUBR_COPYINTO: return check_to_scratch(c, n, 3);
	case DIF_SUBR_INET_NTOA6: return check_inet_ntoa6(c, n);
	default: return 0;
	}
}
