/*
 * JSON Lines to a page, by yajl.
 *
 * yajl calls a function for each piece of JSON.  Where that stands is one of
 * `enum where', which follows from what it is in and from the name of the
 * member.  What a line has is collected and used when the line ends, because
 * members have no order.  Only the rows of an aggregation, of which there may
 * be very many, are reduced as they come.
 *
 * A line is not to be trusted: it may have been cut, damaged, or written by
 * somebody else.
 */
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "tracer/consume/page_impl.h"

#define DEEPEST     32        /* of a line; dtrap writes 8 */
#define TEXT_MOST   (8 << 20) /* of one string: a D program may be long */
#define PRINTS_MOST 256       /* aggregations of a record */
#define KEY_MOST    64 /* the name of a member; longer ones are unknown */

/* ---- places in a line ---- */

enum where {
	NOWHERE, /* what is in it is not read */
	TOP,
	LINE,
	PROGRAMS,
	PROGRAM,
	OPERANDS,
	PROCESSES,
	PROCESS,
	OPTIONS,
	OUTPUT,
	PRINTED, /* an object in output */
	DATA,    /* aggregation-data */
	ROW,
	KEYS,
	KEY,
	FRAMES,
	FRAME,
	BUCKETS,
	BUCKET,
};

/* What stands in what. */
static const struct {
	enum where in;
	const char *name; /* NULL: an element of a list */
	bool list;
	enum where is;
} places[] = {
	{ TOP, NULL, false, LINE },
	{ LINE, "programs", true, PROGRAMS },
	{ PROGRAMS, NULL, false, PROGRAM },
	{ LINE, "operands", true, OPERANDS },
	{ LINE, "processes", true, PROCESSES },
	{ PROCESSES, NULL, false, PROCESS },
	{ LINE, "options", false, OPTIONS },
	{ LINE, "output", true, OUTPUT },
	{ OUTPUT, NULL, false, PRINTED },
	{ LINE, "aggregation-data", true, DATA },
	{ PRINTED, "aggregation-data", true, DATA },
	{ DATA, NULL, false, ROW },
	{ ROW, "keys", true, KEYS },
	{ KEYS, NULL, false, KEY },
	{ KEY, "ustack-frames", true, FRAMES },
	{ KEY, "stack-frames", true, FRAMES },
	{ FRAMES, NULL, false, FRAME },
	{ ROW, "buckets", true, BUCKETS },
	{ BUCKETS, NULL, false, BUCKET },
};

/* Members of a line that are kept as they are. */
enum member {
	M_TYPE,
	M_PROVIDER,
	M_MODULE,
	M_FUNCTION,
	M_NAME,
	M_MSG,
	M_TAG,
	M_VERSION,
	M_TIME,
	M_TEXTS, /* those above are texts */
	M_TIMESTAMP = M_TEXTS,
	M_PID,
	M_TID,
	M_COUNT,
	M_FORMAT,
	M_STATUS,
	M_MEMBERS
};

static const char *const members[M_MEMBERS] = {
	[M_TYPE] = "type",
	[M_PROVIDER] = "provider",
	[M_MODULE] = "module",
	[M_FUNCTION] = "function",
	[M_NAME] = "name",
	[M_MSG] = "msg",
	[M_TAG] = "tag",
	[M_VERSION] = "version",
	[M_TIME] = "time",
	[M_TIMESTAMP] = "timestamp",
	[M_PID] = "pid",
	[M_TID] = "tid",
	[M_COUNT] = "count",
	[M_FORMAT] = "format",
	[M_STATUS] = "status",
};

struct asked_line {
	const char *what;
	struct str name, text;
	int64_t number;
};

struct page_reader {
	struct page *p;
	yajl_handle yajl;
	uint64_t line;  /* from 1 */
	uint64_t since; /* bytes since the last piece */
	char *wrong;    /* NULL: nothing */
	enum where at[DEEPEST];
	char member[KEY_MOST];
	/* the line */
	struct str text[M_TEXTS];
	int64_t number[M_MEMBERS];
	VEC(struct asked_line) asked;
	VEC(struct page_print) prints;
	/* the row */
	struct page_row row;
	VEC(uint32_t) path; /* innermost frames first, in each stack */
	size_t stack_from;  /* of the stack that is being read */
	struct str key;     /* the key in one line */
	struct str frame, name, module, value;
	struct page_bucket bucket;
	/* of the same things */
	unsigned depth;
	bool inside;   /* the line is not empty */
	bool over;     /* its object has ended */
	bool printing; /* the last of prints goes on */
	bool has[M_MEMBERS];
	bool is_stacks, is_cut;
	bool is_native, has_value, row_valued;
	bool has_low, has_high;
};

static bool
fail(struct page_reader *r, const char *what)
{
	if (r->wrong == NULL)
		r->wrong = mem_printf(
		    "line %llu: %s", (unsigned long long)r->line, what);
	return false;
}

static enum where
here(const struct page_reader *r)
{
	return r->depth == 0 ? TOP : r->at[r->depth - 1];
}

static bool
member_is(const struct page_reader *r, const char *name)
{
	return strcmp(r->member, name) == 0;
}

/* ---- rows ---- */

static struct page_print *
print_now(struct page_reader *r)
{
	if (!r->printing && r->prints.len >= PRINTS_MOST) {
		fail(r, "too many aggregations");
	} else if (!r->printing) {
		struct page_print *print = vec_push(&r->prints);
		print_init(print);
		r->printing = true;
	}
	return &r->prints.at[r->prints.len - 1];
}

static void
row_begin(struct page_reader *r)
{
	r->row = (struct page_row){ 0 };
	r->is_stacks = r->is_cut = r->row_valued = false;
	vec_clear(&r->path);
	str_clear(&r->key);
}

/* The key as text: as much of it as is shown. */
static char *
row_text(struct page_reader *r)
{
	struct str s = { 0 };
	size_t n = MIN(r->key.len, PAGE_TEXT);

	while (n < r->key.len && n > 0 && (r->key.s[n] & 0xc0) == 0x80)
		n--;
	text_add_valid(&s, str_c(&r->key), n);
	if (n < r->key.len)
		str_add(&s, "...");
	return str_take(&s);
}

static bool
row_end(struct page_reader *r)
{
	struct page_print *print = print_now(r);
	bool is_hist = r->row.buckets.at != NULL;

	if (!r->row_valued && !is_hist)
		return fail(r, "a row of an aggregation has no value");
	r->row.id = hash_bytes(str_c(&r->key), r->key.len);
	r->row.order = (size_t)print->keys++;
	vec_foreach(b, &r->row.buckets)
		r->row.value = sum_clamped(r->row.value, b->count);
	print->is_hist |= is_hist;
	if (r->is_stacks && !is_hist) {
		print->is_stacks = true;
		if (r->row.value > 0)
			tree_add(print->tree, r->path.at, r->path.len,
			    (uint64_t)r->row.value, r->is_cut);
	}
	r->row.text = row_text(r);
	print_row(print, &r->row);
	r->row = (struct page_row){ 0 };
	return true;
}

/* A member of the key that is no stack is a box of its own, too. */
static void
key_end(struct page_reader *r)
{
	if (!r->has_value)
		return;
	str_add(&r->key, r->key.len != 0 ? " " : "");
	str_addn(&r->key, own(str_c(&r->value)), r->value.len);
	*vec_push(&r->path) =
	    page_name(r->p, PAGE_KEY, str_c(&r->value), r->value.len);
}

/* The frames of a stack were the innermost first. */
static void
frames_end(struct page_reader *r)
{
	size_t from = r->stack_from, n = r->path.len - from;

	for (size_t i = 0; i < n / 2; i++) {
		uint32_t name = r->path.at[from + i];
		r->path.at[from + i] = r->path.at[from + n - 1 - i];
		r->path.at[from + n - 1 - i] = name;
	}
	str_add(&r->key, r->key.len != 0 ? " " : "");
	str_add(&r->key, n == 0 ? "-" : "");
	for (size_t i = from; i < r->path.len; i++) {
		str_add(&r->key, i != from ? ";" : "");
		str_add(&r->key, own(r->p->names.at[r->path.at[i]].text));
	}
	if (n != 0 &&
	    strcmp(r->p->names.at[r->path.at[from]].text, "[cut]") == 0)
		r->is_cut = true;
}

/* A function without the offset in it. */
static void
frame_end(struct page_reader *r)
{
	enum page_kind kind = r->is_native ? PAGE_NATIVE : PAGE_LANGUAGE;
	struct str *name = &r->frame;

	if (strcmp(str_c(&r->frame), "[cut]") == 0)
		kind = PAGE_NATIVE;
	if (r->is_native && r->name.len != 0) {
		if (r->module.len != 0) {
			str_addc(&r->module, '`');
			str_addn(&r->module, own(str_c(&r->name)), r->name.len);
			name = &r->module;
		} else {
			name = &r->name;
		}
	}
	*vec_push(&r->path) = page_name(r->p, kind, str_c(name), name->len);
}

static bool
bucket_end(struct page_reader *r)
{
	struct page_bucket *b = &r->bucket;

	b->open_below = !r->has_low;
	b->open_above = !r->has_high;
	b->low = r->has_low ? b->low : b->value;
	b->high = r->has_high ? b->high : b->value;
	if (r->row.buckets.len >= PAGE_BUCKETS)
		return fail(r, "too many buckets");
	*vec_push(&r->row.buckets) = *b;
	return true;
}

/* ---- lines ---- */

static void
line_clear(struct page_reader *r)
{
	for (size_t i = 0; i < M_TEXTS; i++)
		str_clear(&r->text[i]);
	memset(r->has, 0, sizeof(r->has));
	memset(r->number, 0, sizeof(r->number));
	vec_foreach(a, &r->asked) {
		str_fini(&a->name);
		str_fini(&a->text);
	}
	vec_clear(&r->asked);
	vec_foreach(print, &r->prints)
		print_fini(print);
	vec_clear(&r->prints);
	vec_fini(&r->row.buckets);
	r->printing = r->inside = r->over = false;
	r->depth = 0;
	r->since = 0;
}

static bool
line_begin(struct page_reader *r)
{
	struct page *p = r->p;

	if (r->number[M_FORMAT] != 1)
		return fail(r, "this version of the format is not known");
	/* Rows of this line do not belong to the run before. */
	page_clear(p);
	p->runs++;
	p->begun = true;
	p->begin = p->last = (uint64_t)r->number[M_TIMESTAMP];
	p->version = mem_strdup(str_c(&r->text[M_VERSION]));
	p->time = mem_strdup(str_c(&r->text[M_TIME]));
	vec_foreach(a, &r->asked)
		page_ask(
		    p, a->what, str_c(&a->name), str_c(&a->text), a->number);
	return true;
}

static bool
line_printed(struct page_reader *r)
{
	vec_foreach(print, &r->prints) {
		if (print->name.len == 0)
			return fail(r, "an aggregation has no name");
		page_printed(r->p, print, (uint64_t)r->number[M_TIMESTAMP]);
	}
	vec_clear(&r->prints);
	return true;
}

static bool
line_probe(struct page_reader *r)
{
	const struct page_hit h = {
		.time = (uint64_t)r->number[M_TIMESTAMP],
		.pid = (uint32_t)r->number[M_PID],
		.tid = (uint32_t)r->number[M_TID],
		.prov = str_c(&r->text[M_PROVIDER]),
		.mod = str_c(&r->text[M_MODULE]),
		.func = str_c(&r->text[M_FUNCTION]),
		.name = str_c(&r->text[M_NAME]),
	};

	page_hit(r->p, &h);
	return line_printed(r);
}

/* One with a count tells how many of a kind there were, of which only the first
 * have lines. */
static bool
line_error(struct page_reader *r)
{
	bool all = r->has[M_COUNT];
	uint64_t time =
	    r->has[M_TIMESTAMP] ? (uint64_t)r->number[M_TIMESTAMP] : r->p->last;

	r->p->errors += !all;
	page_lose(r->p, all ? "errors in all" : "error", str_c(&r->text[M_MSG]),
	    all ? (uint64_t)r->number[M_COUNT] : 1, time);
	return true;
}

static bool
line_drop(struct page_reader *r)
{
	uint64_t n = r->number[M_COUNT] > 0 ? (uint64_t)r->number[M_COUNT] : 0;

	r->p->drops += n;
	page_lose(r->p, str_c(&r->text[M_TAG]), str_c(&r->text[M_MSG]), n,
	    (uint64_t)r->number[M_TIMESTAMP]);
	return true;
}

static bool
line_aggregation(struct page_reader *r)
{
	struct page_print *print;

	if (r->prints.len != 1)
		return fail(r, "an aggregation has no data");
	print = &r->prints.at[0];
	str_clear(&print->function);
	str_addn(&print->function, own(str_c(&r->text[M_FUNCTION])),
	    r->text[M_FUNCTION].len);
	return line_printed(r);
}

static bool
line_description(struct page_reader *r)
{
	r->p->listed++;
	return true;
}

static bool
line_end(struct page_reader *r)
{
	r->p->ended = true;
	r->p->last = MAX(r->p->last, (uint64_t)r->number[M_TIMESTAMP]);
	r->p->status = r->number[M_STATUS];
	mem_free(r->p->end_time);
	r->p->end_time = mem_strdup(str_c(&r->text[M_TIME]));
	return true;
}

static bool
line_use(struct page_reader *r)
{
	static const struct {
		const char *type;
		bool (*use)(struct page_reader *r);
	} types[] = {
		{ "probe", line_probe },
		{ "begin", line_begin },
		{ "error", line_error },
		{ "drop", line_drop },
		{ "aggregation", line_aggregation },
		{ "description", line_description },
		{ "end", line_end },
	};
	const char *type = str_c(&r->text[M_TYPE]);

	if (!r->p->begun && strcmp(type, "begin") != 0)
		return fail(r, "no run begins here");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].use(r);
	return fail(r, "its type is not known");
}

/* ---- pieces ---- */

static bool
piece(struct page_reader *r)
{
	r->since = 0;
	return r->wrong == NULL;
}

static void
asked_begin(struct page_reader *r, const char *what)
{
	if (r->asked.len <= PAGE_ASKED)
		*vec_push(&r->asked) =
		    (struct asked_line){ .what = what, .number = -1 };
}

static int
open_piece(struct page_reader *r, bool list)
{
	enum where in = here(r), is = NOWHERE;

	if (!piece(r))
		return 0;
	if (r->depth >= DEEPEST)
		return fail(r, "too deep");
	if (in == TOP && (list || r->over))
		return fail(r, "not one object");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].in == in && places[i].list == list &&
		    (places[i].name == NULL || member_is(r, places[i].name)))
			is = places[i].is;
	r->at[r->depth++] = is;
	*r->member = '\0';
	switch (is) {
	case PROGRAM: asked_begin(r, "program"); break;
	case PROCESS: asked_begin(r, "process"); break;
	case DATA: print_now(r); break;
	case ROW: row_begin(r); break;
	case KEY:
		r->has_value = false;
		str_clear(&r->value);
		break;
	case FRAMES: r->stack_from = r->path.len; break;
	case FRAME:
		str_clear(&r->frame);
		str_clear(&r->name);
		str_clear(&r->module);
		r->is_native = false;
		break;
	case BUCKETS: vec_reserve(&r->row.buckets); break;
	case BUCKET:
		r->bucket = (struct page_bucket){ 0 };
		r->has_low = r->has_high = false;
		break;
	default: break;
	}
	return 1;
}

static int
close_piece(struct page_reader *r)
{
	enum where was = here(r);

	if (!piece(r))
		return 0;
	r->depth--;
	switch (was) {
	case LINE: r->over = true; break;
	case PRINTED: r->printing = false; break;
	case ROW: return row_end(r);
	case KEY: key_end(r); break;
	case FRAMES:
		r->is_stacks = true;
		frames_end(r);
		break;
	case FRAME: frame_end(r); break;
	case BUCKET: return bucket_end(r);
	default: break;
	}
	return 1;
}

static int
on_start_map(void *ctx)
{
	return open_piece(ctx, false);
}

static int
on_start_array(void *ctx)
{
	return open_piece(ctx, true);
}

static int
on_end(void *ctx)
{
	return close_piece(ctx);
}

static int
on_map_key(void *ctx, const unsigned char *key, size_t n)
{
	struct page_reader *r = ctx;

	if (n >= sizeof(r->member))
		n = 0;
	memcpy(r->member, key, n);
	r->member[n] = '\0';
	return piece(r);
}

/* ---- values ---- */

static void
set_text(struct str *to, const char *s, size_t n)
{
	str_clear(to);
	str_addn(to, own(s), n);
	/* It would end there. */
	for (char *nul = to->s; n != 0 &&
	     (nul = memchr(nul, '\0', (size_t)(to->s + n - nul))) != NULL;)
		*nul = ' ';
}

static int64_t
number_of(const char *s, size_t n)
{
	char text[64];

	n = MIN(n, sizeof(text) - 1);
	memcpy(text, s, n);
	text[n] = '\0';
	if (strpbrk(text, ".eE") == NULL)
		return strtoll(text, NULL, 10);
	double v = strtod(text, NULL);
	return v >= 9e18 ? INT64_MAX : v <= -9e18 ? INT64_MIN : (int64_t)v;
}

static void
line_value(struct page_reader *r, const char *s, size_t n, bool is_text)
{
	for (size_t i = 0; i < M_MEMBERS; i++) {
		if (!member_is(r, members[i]) || is_text != (i < M_TEXTS))
			continue;
		r->has[i] = true;
		if (is_text)
			set_text(&r->text[i], s, n);
		else
			r->number[i] = number_of(s, n);
	}
	if (is_text && member_is(r, "aggregation-name"))
		set_text(&print_now(r)->name, s, n);
	if (!is_text && member_is(r, "since"))
		print_now(r)->since = (uint64_t)number_of(s, n);
}

static void
printed_value(struct page_reader *r, const char *s, size_t n, bool is_text)
{
	if (is_text && member_is(r, "aggregation-name"))
		set_text(&print_now(r)->name, s, n);
	else if (is_text && member_is(r, "function"))
		set_text(&print_now(r)->function, s, n);
	else if (!is_text && member_is(r, "since"))
		print_now(r)->since = (uint64_t)number_of(s, n);
}

static void
asked_value(struct page_reader *r, const char *s, size_t n)
{
	struct asked_line *a = &r->asked.at[r->asked.len - 1];

	if (member_is(r, "name") || member_is(r, "command"))
		set_text(&a->name, s, n);
	else if (member_is(r, "text"))
		set_text(&a->text, s, n);
	else if (member_is(r, "probes") || member_is(r, "pid"))
		a->number = number_of(s, n);
}

static void
row_value(struct page_reader *r, const char *s, size_t n)
{
	static const char *const words[] = { "sum", "min", "max", "avg",
		"stddev" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (member_is(r, words[i])) {
			r->row.value = number_of(s, n);
			r->row_valued = true;
			return;
		}
	/* Beside avg and stddev it is another number, which comes later. */
	if (member_is(r, "count") && !r->row_valued) {
		r->row.value = number_of(s, n);
		r->row_valued = true;
	}
}

/* In a key: a value, or a symbol by the name of its function. */
static void
key_value(struct page_reader *r, const char *s, size_t n)
{
	static const char *const words[] = { "value", "usym", "umod", "uaddr",
		"sym", "mod", "bytes" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!member_is(r, words[i]) ||
		    (r->has_value && member_is(r, "bytes")))
			continue;
		set_text(&r->value, s, n);
		r->has_value = true;
	}
}

static void
frame_value(struct page_reader *r, const char *s, size_t n, bool is_text)
{
	if (is_text && member_is(r, "symbol"))
		set_text(&r->frame, s, n);
	else if (is_text && member_is(r, "name"))
		set_text(&r->name, s, n);
	else if (is_text && member_is(r, "module"))
		set_text(&r->module, s, n);
	else if (member_is(r, "address"))
		r->is_native = true;
}

static void
bucket_value(struct page_reader *r, const char *s, size_t n)
{
	int64_t v = number_of(s, n);

	if (member_is(r, "value"))
		r->bucket.value = v;
	else if (member_is(r, "count"))
		r->bucket.count = v;
	else if (member_is(r, "min")) {
		r->bucket.low = v;
		r->has_low = true;
	} else if (member_is(r, "max")) {
		r->bucket.high = v;
		r->has_high = true;
	}
}

static int
value(struct page_reader *r, const char *s, size_t n, bool is_text)
{
	if (!piece(r))
		return 0;
	switch (here(r)) {
	case TOP: return fail(r, "not one object");
	case LINE: line_value(r, s, n, is_text); break;
	case PROGRAM:
	case PROCESS: asked_value(r, s, n); break;
	case OPERANDS:
		asked_begin(r, "operand");
		set_text(&r->asked.at[r->asked.len - 1].name, s, n);
		break;
	case OPTIONS:
		asked_begin(r, "option");
		set_text(&r->asked.at[r->asked.len - 1].name, r->member,
		    strlen(r->member));
		set_text(&r->asked.at[r->asked.len - 1].text, s, n);
		break;
	case PRINTED: printed_value(r, s, n, is_text); break;
	case ROW:
		if (!is_text)
			row_value(r, s, n);
		break;
	case KEY: key_value(r, s, n); break;
	case FRAME: frame_value(r, s, n, is_text); break;
	case BUCKET:
		if (!is_text)
			bucket_value(r, s, n);
		break;
	default: break;
	}
	return 1;
}

static int
on_number(void *ctx, const char *s, size_t n)
{
	return value(ctx, s, n, false);
}

static int
on_string(void *ctx, const unsigned char *s, size_t n)
{
	return value(ctx, (const char *)s, n, true);
}

static int
on_boolean(void *ctx, int is)
{
	struct page_reader *r = ctx;

	if (here(r) == KEY && member_is(r, "cut"))
		r->is_cut |= is != 0;
	return piece(r);
}

static int
on_null(void *ctx)
{
	return piece(ctx);
}

/* ---- text ---- */

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_map_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

static yajl_handle
yajl_new(struct page_reader *r)
{
	yajl_handle y = yajl_alloc(&callbacks, NULL, r);

	if (y == NULL)
		base_panic("out of memory");
	yajl_config(y, yajl_allow_multiple_values, 1);
	return y;
}

void
page_reader_create(struct page *p)
{
	struct page_reader *r = mem_zalloc(sizeof(*r));

	p->reader = r;
	r->p = p;
	r->line = 1;
	r->yajl = yajl_new(r);
}

void
page_reader_destroy(struct page *p)
{
	struct page_reader *r = p->reader;

	line_clear(r);
	for (size_t i = 0; i < M_TEXTS; i++)
		str_fini(&r->text[i]);
	vec_fini(&r->asked);
	vec_fini(&r->prints);
	vec_fini(&r->path);
	str_fini(&r->key);
	str_fini(&r->frame);
	str_fini(&r->name);
	str_fini(&r->module);
	str_fini(&r->value);
	yajl_free(r->yajl);
	mem_free(r->wrong);
	mem_free(r);
	p->reader = NULL;
}

/* A part of a line, without its end. */
static bool
part(struct page_reader *r, const char *text, size_t n)
{
	for (size_t some; n != 0; text += some, n -= some) {
		some = MIN(n, 65536);
		r->since += some;
		if (r->since > TEXT_MOST)
			return fail(r, "a text in it is too long");
		if (yajl_parse(r->yajl, (const unsigned char *)text, some) !=
		    yajl_status_ok)
			return fail(r, "it is no JSON");
	}
	return r->wrong == NULL;
}

static bool
line_complete(struct page_reader *r)
{
	bool ok = true;

	if (r->inside && !r->over)
		return fail(r, "it is cut short");
	if (r->inside)
		ok = line_use(r);
	line_clear(r);
	r->line++;
	return ok;
}

bool
page_text(struct page *p, const char *text, size_t n)
{
	struct page_reader *r = p->reader;
	const char *end = text + n;

	while (text < end && r->wrong == NULL) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((stop != NULL ? stop : end) - text);
		r->inside |= len != 0;
		if (!part(r, text, len) || stop == NULL)
			break;
		/* It ends a number that nothing follows. */
		if (!part(r, "\n", 1) || !line_complete(r))
			break;
		text = stop + 1;
	}
	return r->wrong == NULL;
}

bool
page_complete(struct page *p)
{
	struct page_reader *r = p->reader;

	if (r->wrong == NULL && r->inside)
		line_complete(r);
	if (r->wrong == NULL && p->runs == 0)
		fail(r, "no run begins here");
	return r->wrong == NULL;
}

const char *
page_wrong(const struct page *p)
{
	return p->reader->wrong != NULL ? p->reader->wrong : "";
}
