/*
 * One function that a description means: which names of probes it asks for, where
 * the function's sites are, and the probes that get them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/func.h"
#include "dlang/base/glob.h"
#include "dlang/base/log.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/base/state.h"
#include "tracer/names/bodies.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/ptrace/proc.h"

void
pid_request_fini(struct pid_request *r)
{
	vec_fini(&r->entries);
	vec_fini(&r->exits);
	vec_fini(&r->insns);
	vec_fini(&r->ranges);
}

bool
pid_parse_hex(const char *text, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 16);
	return *end == '\0' && errno == 0;
}

int
pid_parse_name(struct pid_request *r)
{
	const char *name = r->pd->name;
	bool globs = *name == '\0' || glob_is(name);

	r->offset = UINT64_MAX;
	r->entry =
	    globs ? glob_match(name, "entry") : strcmp(name, "entry") == 0;
	r->ret =
	    globs ? glob_match(name, "return") : strcmp(name, "return") == 0;
	r->offsets = globs;
	if (globs || r->entry || r->ret)
		return 0;
	if (!pid_parse_hex(name, &r->offset) || r->offset == UINT64_MAX)
		return r->d == NULL ?
		    -EINVAL :
		    diag_error(r->d, D_PROC_NAME, r->at,
			"%s is not a probe of the pid provider: entry, return "
			"or an offset in hexadecimal",
			name);
	return 0;
}

int
pid_around(struct pid_request *r, uint64_t addr, uint64_t *start)
{
	const struct sym *s = object_code_at(r->load->object, addr);
	uint64_t end;

	if (s != NULL) {
		*start = s->addr;
		r->size = s->size;
		return 0;
	}
	if (object_fde_range(r->load->object, addr, start, &end) != 0)
		return -ENOENT;
	r->size = end - *start;
	return 0;
}

static void
add_alias(struct pid_probe *pp, const char *name)
{
	vec_foreach(alias, &pp->aliases)
		if (strcmp(*alias, name) == 0)
			return;
	*vec_push(&pp->aliases) = mem_strdup(name);
}

/* In one piece of memory: places are freed without being asked. */
static struct place *
place_make(const struct pid_request *r, enum pid_kind kind, uint32_t space,
    const struct pid_site *sites, size_t nsites)
{
	size_t nranges = kind == PID_RETURN ? r->ranges.len : 0;
	size_t room = nsites * sizeof(*sites);
	struct pid_place *pl =
	    mem_zalloc(sizeof(*pl) + room + nranges * sizeof(pl->ranges[0]));

	pl->place =
	    (struct place){ .space = space, .addr = r->start, .load = r->load };
	pl->size = r->size;
	pl->cut = r->cut;
	pl->pending = r->pending ? r->sym : NULL;
	pl->nsites = (uint32_t)nsites;
	if (nsites > 0)
		memcpy(pl->sites, sites, room);
	pl->nranges = (uint32_t)nranges;
	pl->ranges = (struct site_range *)(pl->sites + nsites);
	if (nranges > 0)
		memcpy(
		    pl->ranges, r->ranges.at, nranges * sizeof(pl->ranges[0]));
	return &pl->place;
}

void
pid_add_place(struct pid_request *r, enum pid_kind kind, const char *name,
    const struct pid_site *sites, size_t nsites)
{
	char prov[32];
	bool fresh;

	if (nsites == 0 && !r->pending)
		return;
	snprintf(prov, sizeof(prov), "pid%d", r->proc->role.family);
	const struct func_names *names =
	    places_func_names(r->st, r->load, r->sym);
	struct probe *p =
	    probe_add(&r->st->probes, r->provider, prov, r->load->module,
		names != NULL ? names->shown : r->sym->name, name, &fresh);
	if (fresh) {
		struct pid_probe *pp = mem_zalloc(sizeof(*pp));
		pp->kind = kind;
		pp->aside = r->aside;
		pp->places.family = r->proc->role.family;
		p->data = pp;
		if (names != NULL || r->also != NULL)
			probe_also(&r->st->probes, p,
			    names != NULL ? names->all : r->also);
	}
	struct pid_probe *pp = p->data;
	if (kind < PID_LINE && !r->globs && strcmp(p->func, r->pd->func) != 0)
		add_alias(pp, r->pd->func);
	uint32_t space = addrspace_id(r->proc->space->as);
	struct place **at = places_find(&pp->places, space, r->start, r->load);
	if (*at == NULL)
		*at = place_make(r, kind, space, sites, nsites);
	/* It was enabled before: another place, or its object came back. */
	if (p->image_ref != 0)
		r->provider->enable(r->st, p);
}

static int
each_insn(void *ctx, const struct func_insn *in)
{
	struct pid_request *r = ctx;
	struct pid_site s = { .offset = (int64_t)in->offset };

	if (r->offsets || in->offset == r->offset)
		*vec_push(&r->insns) = s;
	r->found_offset |= in->offset == r->offset;
	return 0;
}

static int
walk_insns(struct pid_request *r)
{
	if (r->size > BODY_MOST)
		return -EFBIG;
	uint8_t *code = mem_alloc(r->size);
	int error = reader_read(&r->proc->space->text, r->start, code, r->size);
	if (error == 0)
		func_walk(code, r->size, r->start, each_insn, r, NULL);
	mem_free(code);
	return error;
}

/* Where it is entered, and left. */
static void
note_body(struct pid_request *r, const struct body *b)
{
	static const enum site_when whens[] = {
		[BODY_ALWAYS] = SITE_ALWAYS,
		[BODY_TAKEN] = SITE_TAKEN,
		[BODY_OUTSIDE] = SITE_OUTSIDE,
	};
	size_t outside = 0;

	vec_foreach(at, &b->loops)
		*vec_push(&r->entries) =
		    (struct pid_site){ (int64_t)(*at - r->start), SITE_LOOP,
			    false };
	if (b->loops.len > 0)
		r->entries.at[0].when = SITE_ENTRY;
	vec_foreach(x, &b->exits) {
		*vec_push(&r->exits) =
		    (struct pid_site){ (int64_t)(x->addr - r->start),
			    whens[x->when], b->doors.len > 0 };
		outside += x->when == BODY_OUTSIDE;
	}
	vec_foreach(at, &b->doors)
		*vec_push(&r->exits) =
		    (struct pid_site){ (int64_t)(*at - r->start), SITE_DOOR,
			    false };
	if (outside > 0)
		vec_foreach(range, &b->ranges)
			*vec_push(&r->ranges) =
			    (struct site_range){ range->start, range->end };
	LOG("pid",
	    "%s: %zu ranges, %zu exits, of which %zu are told when they are "
	    "come to, %zu loops to the begin",
	    r->sym->name, b->ranges.len, b->exits.len, outside, b->loops.len);
}

static int
walk_body(struct pid_request *r)
{
	const struct load *l = addrspace_load_at(r->proc->space->as, r->start);
	struct body b;

	*vec_push(&r->entries) = (struct pid_site){ 0, SITE_ALWAYS, false };
	if (l == NULL)
		return -EAGAIN;
	int error = bodies_find(r->st, &r->proc->space->text, l, r->start,
	    r->start + r->size, r->ret, &b);
	r->cut = error != 0 || b.cut;
	if (error == 0)
		note_body(r, &b);
	body_fini(&b);
	return error;
}

int
pid_walk(struct pid_request *r)
{
	int error = 0;

	vec_clear(&r->entries);
	vec_clear(&r->exits);
	vec_clear(&r->insns);
	vec_clear(&r->ranges);
	if (r->entry || r->ret)
		error = walk_body(r);
	if (error == 0 && (r->offsets || r->offset != UINT64_MAX))
		error = walk_insns(r);
	return error;
}

void
pid_publish_function(struct pid_request *r)
{
	char name[32];
	int error = pid_walk(r);

	if (r->entry)
		pid_add_place(
		    r, PID_ENTRY, "entry", r->entries.at, r->entries.len);
	if (error != 0)
		return;
	if (r->ret)
		pid_add_place(
		    r, PID_RETURN, "return", r->exits.at, r->exits.len);
	vec_foreach(s, &r->insns) {
		snprintf(
		    name, sizeof(name), "%llx", (unsigned long long)s->offset);
		if (r->offset == UINT64_MAX && !glob_match(r->pd->name, name))
			continue;
		pid_add_place(r, PID_OFFSET, name, s, 1);
	}
}

void
pid_publish_offset(struct pid_request *r, const char *name)
{
	pid_add_place(r, PID_OFFSET, name, r->insns.at, r->insns.len);
}

int
pid_measure(struct pid_request *r)
{
	struct load *l = addrspace_load_at(r->proc->space->as, r->start);
	uint64_t lo, hi;

	if (l == NULL)
		return -EAGAIN;
	uint64_t addr = r->start - l->bias;
	const struct sym *s = object_func_at(l->object, addr);
	if (s != NULL && s->addr == addr)
		r->size = s->size;
	else if (object_fde_range(l->object, addr, &lo, &hi) == 0)
		r->size = hi - addr;
	else
		return -EAGAIN;
	return 0;
}
