/*
 * Aggregations that another run of the same program has: cc_declare_agg().
 */
#include "dlang/cc/cc_impl.h"
#include "dlang/cc/cc.h"

/* A type whose values are recorded as this member of the key is. */
static struct type *
key_type(struct cc *cc, const struct prog_rec *r)
{
	static const char *const numbers[][2] = { { "uint8_t", "int8_t" },
		{ "uint16_t", "int16_t" }, { "uint32_t", "int32_t" },
		{ "uint64_t", "int64_t" } };
	size_t log = r->size == 1 ? 0 : r->size == 2 ? 1 : r->size == 4 ? 2 : 3;

	switch (r->kind) {
	case REC_STRING: return cc->t_string;
	case REC_CHARS: return types_array(cc->types, cc->t_char, r->size);
	case REC_BYTES:
		return types_array(
		    cc->types, types_lookup(cc->types, "uint8_t"), r->size);
	case REC_FLOAT:
		return types_lookup(cc->types,
		    r->size == 4     ? "float" :
			r->size == 8 ? "double" :
				       "long double");
	case REC_STACK: return types_lookup(cc->types, "stack");
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR: return types_lookup(cc->types, "_usymaddr");
	case REC_SYM:
	case REC_MOD: return types_lookup(cc->types, "_symaddr");
	case REC_INT:
	case REC_EPID: break;
	}
	return r->is_pointer ?
	    cc->t_voidp :
	    types_lookup(cc->types, numbers[log][r->is_signed]);
}

const struct prog_agg *
cc_declare_agg(struct cc *cc, const struct prog_agg *from)
{
	struct prog_agg *a = arena_alloc(&cc->arena, sizeof(*a));
	struct ident *id;

	if (hash_get_str(&cc->aggs, from->name) != NULL ||
	    cc->shared.aggs.len >= DIF_VAR_MAX)
		return NULL;
	*a = *from;
	a->name = arena_strdup(&cc->arena, from->name);
	a->keys = arena_alloc(&cc->arena, a->nkeys * sizeof(*a->keys));
	*vec_push(&cc->shared.aggs) = a;
	a->id = (uint32_t)cc->shared.aggs.len;
	id = ident_new(cc, a->name, ID_AGG);
	id->agg = a;
	id->id = a->id;
	id->nkeys = a->nkeys;
	id->keys = arena_alloc(&cc->arena, a->nkeys * sizeof(*id->keys));
	for (size_t i = 0; i < a->nkeys; i++) {
		a->keys[i] = from->keys[i];
		a->keys[i].type = id->keys[i] = key_type(cc, &a->keys[i]);
	}
	id->keys_known = true;
	hash_set_str(&cc->aggs, a->name, id);
	return a;
}
