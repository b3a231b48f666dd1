/*
 * tracer/names/bodies.c: what the finder of bodies and of pieces is told of an
 * object, and what is made of its answers.  The object and both finders are
 * doubles.  Addresses of the file are 0x1000 to 0x3000; the object is mapped at
 * 0x700000 more.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "disasm/landings.h"
#include "disasm/pieces.h"
#include "symbols/addrspace.h"
#include "symbols/symbolise.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/names/bodies.h"

#define BIAS UINT64_C(0x700000)

struct object {
	struct fde fdes[8];
	struct sym syms[12];
	size_t nfdes, nsyms;
	struct body_range code[3];
	bool pie;
	int held;
};

static struct object lib;
static struct state state;
static char said[600]; /* what the doubles were told */
static size_t said_len;

static void say(const char *fmt, ...) PRINTF_LIKE(1, 2);

static void
say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said_len += (size_t)vsnprintf(
	    said + said_len, sizeof(said) - said_len, fmt, ap);
	va_end(ap);
	ck_assert_uint_lt(said_len, sizeof(said));
}

static void
check_said(const char *want)
{
	ck_assert_str_eq(said, want);
	said[said_len = 0] = '\0';
}

/* ---- the object ---- */

static const struct fde *
double_fde_at(const struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < o->nfdes; i++)
		if (addr >= o->fdes[i].start && addr < o->fdes[i].end)
			return &o->fdes[i];
	return NULL;
}

static const struct sym *
double_func_at(const struct object *o, uint64_t addr)
{
	for (size_t i = 0; i < o->nsyms; i++)
		if (addr - o->syms[i].addr < o->syms[i].size)
			return &o->syms[i];
	return NULL;
}

static size_t
double_funcs_from(const struct object *o, uint64_t addr)
{
	size_t i = 0;

	while (i < o->nsyms && o->syms[i].addr < addr)
		i++;
	return i;
}

/* Bytes are those of the address; 0x2f00 cannot be read. */
static int
double_read(uint64_t addr, uint8_t *buf, size_t len)
{
	if (addr < 0x1000 || addr + len > 0x3000 || addr == 0x2f00)
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)((addr + i) >> 4);
	return 0;
}

/* An entry with data has a landing pad there. */
static void
double_pads(struct object *o, const struct fde *f,
    void (*each)(void *ctx, uint64_t), void *ctx)
{
	if (f->lsda != 0)
		each(ctx, f->lsda);
}

static void
double_words(void (*each)(void *ctx, uint64_t), void *ctx)
{
	each(ctx, 0x1234);
}

static bool
double_code(const struct object *o, size_t i, uint64_t *start, uint64_t *end)
{
	if (i == ARRAY_SIZE(o->code) || o->code[i].end == 0)
		return false;
	*start = o->code[i].start;
	*end = o->code[i].end;
	return true;
}

static enum frame_kind
double_frame(uint64_t addr)
{
	return addr == 0x1000 ? FRAME_BARE :
	    addr == 0x1008    ? FRAME_LAID :
				FRAME_UNKNOWN;
}

/* ---- the finders ---- */

static void
say_addr(void *ctx, uint64_t addr)
{
	say("@%lx ", (unsigned long)addr);
}

static uint64_t piece, piece_owner; /* starts of ranges */

static void
double_find(struct piece_range *r, size_t n, const struct piece_world *w)
{
	uint8_t byte = 0;
	size_t owner = 0;

	for (size_t i = 0; i < n; i++) {
		say("%lx-%lx%s ", (unsigned long)r[i].start,
		    (unsigned long)r[i].end, r[i].function ? "f" : "");
		if (r[i].start == piece_owner)
			owner = i;
	}
	for (size_t i = 0; i < n; i++)
		r[i].owner = (uint32_t)(r[i].start == piece ? owner : i);
	say("%s", w->fixed ? "fixed " : "");
	w->held(w->ctx, say_addr, NULL);
	w->pads(
	    w->ctx, &(struct piece_range){ .start = 0x1080 }, say_addr, NULL);
	w->pads(
	    w->ctx, &(struct piece_range){ .start = 0x2000 }, say_addr, NULL);
	ck_assert(w->laid(w->ctx, 0x1008));
	ck_assert(!w->laid(w->ctx, 0x1000));
	ck_assert_int_eq(reader_read(&w->code, 0x1230, &byte, 1), 0);
	ck_assert_uint_eq(byte, 0x23);
	ck_assert_int_eq(reader_read(&w->code, 0x3000, &byte, 1), -EFAULT);
}

static bool
double_is_stub(const struct reader *code, uint64_t addr)
{
	uint8_t byte;

	return reader_read(code, addr, &byte, 1) == 0 && byte == 0x11;
}

static void
double_add_code(
    const uint8_t *code, size_t size, uint64_t addr, bool sure, bool low)
{
	ck_assert_uint_eq(code[size - 1], (uint8_t)((addr + size - 1) >> 4));
	say("%lx+%lx%s%s ", (unsigned long)addr, (unsigned long)size,
	    sure ? "k" : "", low ? "l" : "");
}

static void (*inside)(struct body *b, const struct body_world *w);

static int
double_body(
    struct body *b, uint64_t start, uint64_t end, const struct body_world *w)
{
	memset(b, 0, sizeof(*b));
	*vec_push(&b->ranges) = (struct body_range){ start, end };
	inside(b, w);
	vec_fini(&b->ranges);
	return -EFBIG;
}

static symbolise_owner *served;
static void *served_for;

static void
double_by_owner(symbolise_owner *owner, void *ctx)
{
	served = owner;
	served_for = ctx;
}

#define object_entry(o)                UINT64_C(0x1080)
#define object_fdes(o, out)            (*(out) = (o)->fdes, (o)->nfdes)
#define object_funcs(o, out)           (*(out) = (o)->syms, (o)->nsyms)
#define object_funcs_from(o, addr)     double_funcs_from(o, addr)
#define object_is_piece(o, name)       (strstr(name, ".cold") != NULL)
#define object_read(o, addr, buf, len) double_read(addr, buf, len)
#define object_fde_at(o, addr)         double_fde_at(o, addr)
#define object_func_at(o, addr)        double_func_at(o, addr)
#define object_landing_pads            double_pads
#define object_words(o, e, ctx)        double_words(e, ctx)
#define object_frame(o, addr)          double_frame(addr)
#define object_get(o)                  ((o)->held++, (o))
#define object_put(o)                  ((o)->held--)
#define object_path(o)                 "lib"
#define object_is_pie(o)               (((struct object *)(o))->pie)
#define object_is_text(o, addr)        ((addr) >= 0x1000 && (addr) < 0x3000)
#define object_code(o, i, start, end)  double_code(o, i, start, end)
#define pieces_find                    double_find
#define pieces_is_stub                 double_is_stub
#define landings_add_code(l, code, size, addr, sure, low) \
	double_add_code(code, size, addr, sure, low)
#define body_find                      double_body
#define symbolise_by_owner(owner, ctx) double_by_owner(owner, ctx)
#include "tracer/names/kept.c"
#include "tracer/names/bodies.c"

static const struct load mapped = { .object = &lib, .bias = BIAS };

static void
fde(uint64_t start, uint64_t end, uint64_t pad)
{
	lib.fdes[lib.nfdes++] =
	    (struct fde){ .start = start, .end = end, .lsda = pad };
}

static void
sym(const char *name, uint64_t addr, uint64_t size)
{
	lib.syms[lib.nsyms++] =
	    (struct sym){ .name = name, .addr = addr, .size = size };
}

static void
setup(void)
{
	memset(&lib, 0, sizeof(lib));
	lib.pie = true;
	lib.code[0] = (struct body_range){ 0x1000, 0x1200 };
	fde(0x1080, 0x10c0, 0x10a0);
	fde(0x1100, 0x1140, 0);
	said[said_len = 0] = '\0';
	piece = 0x1100;
	piece_owner = 0x1080;
}

static void
teardown(void)
{
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	ck_assert_int_eq(lib.held, 0);
}

static uint64_t
owner(uint64_t addr)
{
	uint64_t start = 1;
	int r = bodies_owner(&state, &lib, addr, &start);

	ck_assert(r == 0 || r == -ENOENT);
	return r == 0 ? start : 0;
}

/* ---- owners ---- */

START_TEST(a_range_has_an_owner)
{
	ck_assert_uint_eq(owner(0x1120), 0x1080);
	check_said("1080-10c0f 1100-1140 @1234 @10a0 ");
	ck_assert_uint_eq(owner(0x1080), 0x1080);
	ck_assert_uint_eq(owner(0x10d0), 0);
	check_said(""); /* they are found once */
	ck_assert_int_eq(lib.held, 1);
	lib.pie = false;
	teardown();
	ck_assert_uint_eq(owner(0x1100), 0x1080);
	check_said("1080-10c0f 1100-1140 fixed @1234 @10a0 ");
}
END_TEST

/* Symbols tell functions from pieces; ranges do not overlap. */
START_TEST(ranges_come_from_entries_and_symbols)
{
	fde(0x1200, 0x1300, 0);
	fde(0x1240, 0x1260, 0);
	fde(0x1400, 0x1420, 0);
	sym("f", 0x1040, 0x20);
	sym("f.cold", 0x1100, 0x50);
	sym("g", 0x1400, 0x10);
	sym("g.cold", 0x1410, 0x10);
	sym("empty", 0x1500, 0);
	sym("h.cold", 0x1600, 0x40);
	sym("h", 0x1600, 0x20);
	sym("i", 0x1640, 0x20);
	owner(0x1120);
	check_said("1040-1060f 1080-10c0f 1100-1150 1200-1240 1240-1260 "
		   "1400-1410f 1410-1420 1600-1640f 1640-1660f @1234 @10a0 ");
	ck_assert_uint_eq(owner(0x1280), 0); /* cut off */
	ck_assert_uint_eq(owner(0x1048), 0); /* has no entry */
}
END_TEST

START_TEST(names_are_made_by_owners)
{
	uint64_t start = 0;

	bodies_serve(&state);
	ck_assert_ptr_eq(served_for, &state);
	ck_assert_int_eq(served(served_for, &lib, 0x1120, &start), 0);
	ck_assert_uint_eq(start, 0x1080);
	ck_assert_int_eq(served(served_for, &lib, 0x10d0, &start), -ENOENT);
	bodies_serve(NULL);
	ck_assert_ptr_null(served);
}
END_TEST

/* ---- what is led to ---- */

static bool
leads(uint64_t from, uint64_t to)
{
	return bodies_lead_between(&state, &lib, from, to);
}

START_TEST(all_code_of_an_object_is_read)
{
	ck_assert(!leads(0x1000, 0x1080));
	check_said("1000+80 1080+40k 10c0+40 1100+40k 1140+c0 ");
	ck_assert(leads(0x1000, 0x1081)); /* a range begins there */
	ck_assert(leads(0x10ff, 0x1101));
	ck_assert(!leads(0x1100, 0x11ff));
	ck_assert(leads(0x109f, 0x10a1)); /* a landing pad */
	ck_assert(!leads(0x10a0, 0x1100));
	check_said("");
	/* Data has an address of code. */
	teardown();
	lib.code[0].end = 0x1300;
	lib.pie = false;
	ck_assert(leads(0x1233, 0x1235));
	check_said("1000+80l 1080+40kl 10c0+40l 1100+40kl 1140+1c0l ");
}
END_TEST

START_TEST(each_segment_is_read)
{
	lib.code[0] = (struct body_range){ 0x1090, 0x1120 };
	lib.code[1] = (struct body_range){ 0x2000, 0x2040 };
	lib.code[2] = (struct body_range){ 0x2f00, 0x2f80 };
	ck_assert(!leads(0x2000, 0x2f80));
	check_said("1090+30k 10c0+40 1100+20k 2000+40 ");
	teardown();
	/* Segments that begin and end with a range. */
	lib.code[0] = (struct body_range){ 0x1140, 0x1180 };
	lib.code[1] = (struct body_range){ 0x1040, 0x1080 };
	lib.code[2].end = 0;
	ck_assert(!leads(0x1140, 0x1180));
	check_said("1140+40 1040+40 ");
}
END_TEST

/* Neither entries nor symbols. */
START_TEST(code_without_ranges_is_read)
{
	lib.nfdes = 0;
	ck_assert(!leads(0x1000, 0x1200));
	check_said("1000+200 ");
}
END_TEST

START_TEST(too_much_code_may_lead_anywhere)
{
	lib.code[0].end = 0x1001 + (uint64_t)LANDINGS_MOST;
	ck_assert(leads(0x1140, 0x1141));
	check_said("");
	lib.code[0].end = 0;
	ck_assert(leads(0x1140, 0x1141));
	lib.code[0] = (struct body_range){ 0x1100, 0x1100 };
	ck_assert(leads(0x1140, 0x1141));
	check_said("");
}
END_TEST

/* ---- bodies ---- */

static void
find(bool exits, void (*in)(struct body *b, const struct body_world *w))
{
	const struct reader mem = { read_object, &lib };
	struct body b;

	inside = in;
	ck_assert_int_eq(bodies_find(&state, &mem, &mapped, BIAS + 0x1080,
			     BIAS + 0x10c0, exits, &b),
	    -EFBIG);
}

static void
say_piece(struct body *b, const struct body_world *w, uint64_t addr)
{
	struct body_range out = { 0 };

	if (w->piece(w->ctx, b, BIAS + addr, &out))
		say("%lx-%lx ", (unsigned long)(out.start - BIAS),
		    (unsigned long)(out.end - BIAS));
	else
		say("- ");
}

static void
say_pieces(struct body *b, const struct body_world *w)
{
	static const uint64_t addrs[] = { 0x1120, 0x1110, 0x10d0, 0x1208,
		0x1308, 0x1408, 0x3100 };

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		say_piece(b, w, addrs[i]);
}

START_TEST(where_a_function_goes_on)
{
	fde(0x1400, 0x1410, 0);
	fde(0x3100, 0x3110, 0);
	sym("f.cold", 0x1200, 0x10);
	sym("g", 0x1300, 0x10);
	owner(0x1120);
	said[said_len = 0] = '\0';
	/* A piece; a stub; no entry; by its name; another function; one that
	 * has no symbol; data. */
	find(true, say_pieces);
	check_said("1100-1140 - - 1200-1210 - - - ");
	/* A piece of another function. */
	teardown();
	piece_owner = 0x1400;
	owner(0x1120);
	said[said_len = 0] = '\0';
	find(true, say_pieces);
	check_said("- - - 1200-1210 - - - ");
}
END_TEST

static void
say_frames(struct body *b, const struct body_world *w)
{
	say("%lx-%lx ", (unsigned long)(b->ranges.at[0].start),
	    (unsigned long)(b->ranges.at[0].end));
	w->pads(w->ctx, &b->ranges.at[0], say_addr, NULL);
	w->pads(w->ctx, &(struct body_range){ BIAS + 0x2000, BIAS + 0x2010 },
	    say_addr, NULL);
	if (w->frame == NULL)
		return;
	ck_assert_int_eq(w->frame(w->ctx, BIAS + 0x1000), BODY_FRAME_BARE);
	ck_assert_int_eq(w->frame(w->ctx, BIAS + 0x1008), BODY_FRAME_LAID);
	ck_assert_int_eq(w->frame(w->ctx, BIAS + 0x1010), BODY_FRAME_UNKNOWN);
	say("frames ");
}

START_TEST(frames_and_landing_pads)
{
	find(true, say_frames);
	check_said("701080-7010c0 @7010a0 frames ");
	find(false, say_frames);
	check_said("701080-7010c0 @7010a0 ");
}
END_TEST

static void
say_range(void *arg, const struct body_range *r)
{
	say("%lx-%lx ", (unsigned long)(r->start - BIAS),
	    (unsigned long)(r->end - BIAS));
}

static void
say_others(struct body *b, const struct body_world *w)
{
	w->others(w->ctx, b, say_range, NULL);
}

static void
say_first_others(struct body *b, const struct body_world *w)
{
	b->ranges.at[0].start = BIAS + 0x200;
	w->others(w->ctx, b, say_range, NULL);
	b->ranges.at[0].start = BIAS + 0x100;
	w->others(w->ctx, b, say_range, NULL);
}

/* Up to 512 bytes before and behind it. */
START_TEST(neighbours_may_share_code)
{
	sym("far", 0xe7f, 0x10);
	sym("near", 0xe80, 0x10);
	sym("alias", 0xe80, 0x10);
	sym("empty", 0x1000, 0);
	sym("f", 0x1080, 0x40);
	sym("f.cold", 0x1100, 0x10);
	sym("last", 0x12bf, 0x10);
	sym("behind", 0x12c0, 0x10);
	find(true, say_others);
	check_said("e80-e90 1080-10c0 12bf-12cf ");
	lib.nsyms = 0;
	sym("low", 0x10, 0x10);
	find(true, say_first_others);
	check_said("10-20 10-20 ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_range_has_an_owner,
		ranges_come_from_entries_and_symbols, names_are_made_by_owners,
		all_code_of_an_object_is_read, each_segment_is_read,
		code_without_ranges_is_read, too_much_code_may_lead_anywhere,
		where_a_function_goes_on, frames_and_landing_pads,
		neighbours_may_share_code };

	return suite_run("bodies", setup, teardown, tests, ARRAY_SIZE(tests));
}
