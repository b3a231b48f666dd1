/*
 * Options: names to values, with the grammar of cli option values: words,
 * integers in any C base, sizes with k m g t, rates with a unit or hz.
 */
#include "dlang/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dlang/attr.h"
#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/base/nearest.h"
#include "dlang/base/str.h"
#include "dlang/dif.h"

static const struct option_row {
	const char *name;
	enum option_kind kind;
	enum option_phase phase;
	int64_t def;
} option_rows[OPT_COUNT] = {
#define OPTION(id, name, kind, phase, def, text) \
	[OPT_##id] = { name, kind, phase, def },
#include "dlang/options.def"
#undef OPTION
};

/* What a program must not change: it would act before the program is read, or
 * on the machine outside. */
static const char *const option_not_from_text[] = { "cpphdrs", "cpppath",
	"cppargs", "ctfpath", "debuginfod", "debuginfodtime", "define",
	"incdir", "ldpath", "heartbeat", "lockmem", "modpath", "objcopypath",
	"oformat", "procfspath", "rdtrap", "report", "rsh", "setenv", "stdc",
	"undef", "unsetenv", "vmname" };

/* Numbers that size an array somewhere, or that a 32-bit field holds. */
/* clang-format off */
static const struct option_range {
	enum option_id id;
	int64_t min, max;
} option_ranges[] = {
	{ OPT_STRSIZE,       2, DIF_STRSIZE_MAX },
	{ OPT_IREGS,         1, 8 },
	{ OPT_TREGS,         1, 1 << 10 },
	{ OPT_CPU,           0, INT_MAX },
	{ OPT_DEBUGINFODTIME, 0, INT_MAX },
	{ OPT_NSPEC,         0, 1 << 16 },
	{ OPT_MAXFRAMES,     1, 1 << 16 },
	{ OPT_STACKFRAMES,   0, 1 << 16 },
	{ OPT_USTACKFRAMES,  0, 1 << 16 },
	{ OPT_JSTACKFRAMES,  0, 1 << 16 },
	{ OPT_STACKINDENT,   0, 1 << 10 },
	{ OPT_AGGSORTKEYPOS, 0, INT_MAX },
	{ OPT_AGGSORTPOS,    0, INT_MAX },
};

/* Strings that are one of a few words. */
static const struct option_words {
	enum option_id id;
	const char *const *words;
} option_words[] = {
	{ OPT_DEBUGINFOD, (const char *const[]){ "named", "all", "none", NULL } },
	{ OPT_ENCODING,  (const char *const[]){ "ascii", "utf8", NULL } },
	{ OPT_EVALTIME,  (const char *const[]){ "exec", "preinit", "postinit",
			     "main", NULL } },
	{ OPT_FASTPATH,  (const char *const[]){ "auto", "on", "off", NULL } },
	{ OPT_OFORMAT,   (const char *const[]){ "text", "json", "folded",
			     "pprof", "chrome", "prometheus", "top", "snapshot",
			     NULL } },
	{ OPT_LINKTYPE,  (const char *const[]){ "elf", "dof", NULL } },
	{ OPT_LATE,      (const char *const[]){ "dynamic", "static", NULL } },
	{ OPT_FOLLOW,    (const char *const[]){ "all", "none", NULL } },
	{ OPT_SAMPLING,  (const char *const[]){ "auto", "user", "stops", NULL } },
	{ OPT_STDC,      (const char *const[]){ "a", "c", "s", "t", NULL } },
	{ OPT_STACKFORMAT, (const char *const[]){ "default", "folded", NULL } },
	{ OPT_UNWINDER, (const char *const[]){ "rules", "libunwind", "check",
			    NULL } },
	{ OPT_BUFRESIZE, (const char *const[]){ "auto", "manual", NULL } },
};

/* Those of which each value adds to the ones before. */
static const enum option_id option_lists[] = {
	OPT_CPPARGS, OPT_DEFINE, OPT_UNDEF, OPT_INCDIR, OPT_LIBDIR, OPT_SETENV,
	OPT_UNSETENV,
};
/* clang-format on */

static bool
option_word_in(const char *s, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcasecmp(s, *words) == 0)
			return true;
	return false;
}

static bool
option_is_yes(const char *s)
{
	static const char *const words[] = { "yes", "enable", "enabled", "true",
		"on", "set", NULL };
	return option_word_in(s, words);
}

static bool
option_is_no(const char *s)
{
	static const char *const words[] = { "no", "disable", "disabled",
		"false", "off", "unset", NULL };
	return option_word_in(s, words);
}

/* An integer of any C base, and what follows it. */
static int
option_integer(const char *s, int64_t *value, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)s[*s == '-']))
		return -EINVAL;
	errno = 0;
	*value = strtoll(s, &end, 0);
	if (errno != 0)
		return -EINVAL;
	*rest = end;
	return 0;
}

static int
option_int(const char *s, int64_t *value)
{
	const char *rest;

	if (option_is_yes(s)) {
		*value = 1;
		return 0;
	}
	if (option_integer(s, value, &rest) != 0 || *rest != '\0')
		return -EINVAL;
	return 0;
}

static int
option_size(const char *s, int64_t *value)
{
	static const char suffixes[] = "kmgt";
	const char *rest;

	if (option_integer(s, value, &rest) != 0 || *value < 0)
		return -EINVAL;
	if (*rest == '\0')
		return 0;
	const char *at = strchr(suffixes, tolower((unsigned char)*rest));
	if (at == NULL || rest[1] != '\0')
		return -EINVAL;
	int64_t unit = 1LL << (10 * (at - suffixes + 1));
	return __builtin_mul_overflow(*value, unit, value) ? -EINVAL : 0;
}

static int
option_rate(const char *s, int64_t *value)
{
	/* clang-format off */
	static const struct { const char *name; int64_t ns; } units[] = {
		{ "", 1 },		    { "ns", 1 },	   { "nsec", 1 },
		{ "us", 1000 },		    { "usec", 1000 },
		{ "ms", 1000000 },	    { "msec", 1000000 },
		{ "s", 1000000000 },	    { "sec", 1000000000 },
		{ "m", 60000000000 },	    { "min", 60000000000 },
		{ "h", 3600000000000 },	    { "hour", 3600000000000 },
		{ "d", 86400000000000 },    { "day", 86400000000000 },
	};
	/* clang-format on */
	const char *rest;

	if (option_integer(s, value, &rest) != 0 || *value < 0)
		return -EINVAL;
	if (strcasecmp(rest, "hz") == 0) {
		if (*value == 0 || *value > 1000000000)
			return -EINVAL;
		*value = 1000000000 / *value;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(rest, units[i].name) == 0)
			return __builtin_mul_overflow(
				   *value, units[i].ns, value) ?
			    -EINVAL :
			    0;
	return -EINVAL;
}

static int
option_share(const char *s, int64_t *value)
{
	const char *rest;

	if (option_integer(s, value, &rest) != 0 ||
	    (*rest != '\0' && strcmp(rest, "%") != 0))
		return -EINVAL;
	return *value >= 0 && *value <= 100 ? 0 : -EINVAL;
}

static int
option_policy(const char *s, int64_t *value)
{
	static const char *const names[] = { [POLICY_SWITCH] = "switch",
		[POLICY_FILL] = "fill",
		[POLICY_RING] = "ring" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(s, names[i]) == 0) {
			*value = (int64_t)i;
			return 0;
		}
	return -EINVAL;
}

static int
option_in_range(enum option_id id, int64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_ranges); i++)
		if (option_ranges[i].id == id &&
		    (value < option_ranges[i].min ||
			value > option_ranges[i].max))
			return -EINVAL;
	return 0;
}

/* Back to what options_init() made of it; a flag is off. */
static void
option_unset(struct options *o, enum option_id id)
{
	bool flag = option_rows[id].kind == OPTK_FLAG;

	mem_free(o->text[id]);
	o->text[id] = NULL;
	o->value[id] = flag ? 0 : option_rows[id].def;
	o->set[id] = flag;
}

static int
option_set_flag(struct options *o, enum option_id id, const char *value)
{
	int64_t n = 1;

	/* The flags of the compiler have no words. */
	if (value != NULL && option_rows[id].phase == OPTP_COMPILE)
		return -EINVAL;
	bool full = id == OPT_DEMANGLE && value != NULL &&
	    strcasecmp(value, "full") == 0;
	if (value != NULL && !full && option_int(value, &n) != 0)
		return -EINVAL;
	o->value[id] = full ? NAMES_FULL : n != 0;
	o->set[id] = true;
	if (id == OPT_DEBUG)
		log_all();
	return 0;
}

static int
option_set_number(struct options *o, enum option_id id, const char *value)
{
	int64_t n = 0; /* bare: "enabled" */
	int r = 0;

	if (value == NULL && option_rows[id].phase == OPTP_COMPILE)
		return -EINVAL;
	if (value != NULL && option_rows[id].kind == OPTK_SIZE)
		r = option_size(value, &n);
	else if (value != NULL && option_rows[id].kind == OPTK_RATE)
		r = option_rate(value, &n);
	else if (value != NULL && option_rows[id].kind == OPTK_SHARE)
		r = option_share(value, &n);
	else if (value != NULL)
		r = option_int(value, &n);
	if (r == 0)
		r = option_in_range(id, n);
	if (r != 0)
		return r;
	o->value[id] = n;
	o->set[id] = true;
	return 0;
}

int
option_version(const char *s, int64_t *value)
{
	unsigned major, minor, micro = 0;
	int end = 0;

	if (sscanf(s, "%2u.%3u%n.%3u%n", &major, &minor, &end, &micro, &end) <
		2 ||
	    s[end] != '\0')
		return -EINVAL;
	*value = OPTION_D_VERSION(major, minor, micro);
	return major > OPTIONS_D_MAJOR ||
		(major == OPTIONS_D_MAJOR && minor > OPTIONS_D_MINOR) ?
	    -ENOTSUP :
	    0;
}

static int
option_set_string(struct options *o, enum option_id id, const char *value)
{
	char *old = o->text[id];
	int64_t number = 0;
	struct attr attr;

	if (value == NULL || (id == OPT_AMIN && !attr_parse(value, &attr)))
		return -EINVAL;
	int r = id == OPT_VERSION ? option_version(value, &number) : 0;
	if (r != 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(option_words); i++)
		if (option_words[i].id == id &&
		    !option_word_in(value, option_words[i].words))
			return -EINVAL;
	o->text[id] = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(option_lists) && old != NULL; i++)
		if (option_lists[i] == id)
			o->text[id] = mem_printf("%s\n%s", old, value);
	if (o->text[id] == NULL)
		o->text[id] = mem_strdup(value);
	mem_free(old);
	o->value[id] = number;
	o->set[id] = true;
	return 0;
}

static int
option_set_policy(struct options *o, enum option_id id, const char *value)
{
	if (value == NULL || option_policy(value, &o->value[id]) != 0)
		return -EINVAL;
	o->set[id] = true;
	return 0;
}

static int
option_lookup(const char *name)
{
	for (int i = 0; i < OPT_COUNT; i++)
		if (strcmp(option_rows[i].name, name) == 0)
			return i;
	return -ENOENT;
}

void
options_init(struct options *o)
{
	memset(o, 0, sizeof(*o));
	for (int i = 0; i < OPT_COUNT; i++)
		o->value[i] = option_rows[i].def;
}

void
options_fini(struct options *o)
{
	for (int i = 0; i < OPT_COUNT; i++) {
		mem_free(o->text[i]);
		o->text[i] = NULL;
	}
}

int
option_set(
    struct options *o, const char *name, const char *value, bool from_text)
{
	int id = option_lookup(name);

	if (id < 0)
		return id;
	const struct option_row *row = &option_rows[id];
	for (size_t i = 0; i < ARRAY_SIZE(option_not_from_text); i++)
		if (from_text && strcmp(name, option_not_from_text[i]) == 0)
			return -EPERM;
	if (o->active && row->phase != OPTP_DYNAMIC)
		return -EBUSY;
	if (row->kind == OPTK_NONE) {
		o->set[id] = true;
		return 0;
	}
	if (value != NULL && row->phase != OPTP_COMPILE &&
	    (*value == '\0' ||
		(row->kind <= OPTK_INT && option_is_no(value)))) {
		option_unset(o, id);
		return 0;
	}
	switch (row->kind) {
	case OPTK_FLAG: return option_set_flag(o, id, value);
	case OPTK_INT:
	case OPTK_SIZE:
	case OPTK_SHARE:
	case OPTK_RATE: return option_set_number(o, id, value);
	case OPTK_STRING: return option_set_string(o, id, value);
	case OPTK_POLICY: return option_set_policy(o, id, value);
	case OPTK_NONE: break;
	}
	return -EINVAL;
}

int
option_parse(struct options *o, const char *arg, bool from_text)
{
	const char *eq = strchr(arg, '=');

	if (eq == NULL)
		return option_set(o, arg, NULL, from_text);
	char *name = mem_strndup(arg, (size_t)(eq - arg));
	int r = option_set(o, name, eq + 1, from_text);
	mem_free(name);
	return r;
}

static void
option_offer(struct nearest *near)
{
	for (int i = 0; i < OPT_COUNT; i++)
		nearest_offer(near, option_rows[i].name);
}

const char *
option_error(int error)
{
	switch (error) {
	case -ENOENT: return "Invalid option name";
	case -ENOTSUP: return "Requested version is not supported by compiler";
	case -EBUSY: return "Operation illegal when tracing is active";
	case -EPERM: return "Option cannot be used from within a D program";
	}
	return "Invalid value for specified option";
}

const char *
option_name(enum option_id id)
{
	return option_rows[id].name;
}

/* ---- hints ---- */

static char *
option_nearest(const char *name)
{
	struct nearest near;

	nearest_init(&near, name);
	option_offer(&near);
	char *text = mem_strdup(nearest_found(&near) ?
		nearest_question(&near) :
		"dtrap(1) lists them under OPTIONS");
	nearest_fini(&near);
	return text;
}

/* "a, b or c". */
static void
option_add_words(struct str *to, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (i > 0)
			str_add(to, words[i + 1] != NULL ? ", " : " or ");
		str_add(to, words[i]);
	}
}

static void
option_add_range(struct str *to, enum option_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_ranges); i++) {
		const struct option_range *r = &option_ranges[i];
		if (r->id != id)
			continue;
		if (r->max == INT_MAX)
			str_printf(
			    to, ", not less than %lld", (long long)r->min);
		else
			str_printf(to, ", from %lld to %lld", (long long)r->min,
			    (long long)r->max);
	}
}

static void
option_add_string(struct str *to, enum option_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_words); i++) {
		if (option_words[i].id != id)
			continue;
		option_add_words(to, option_words[i].words);
		return;
	}
	if (id == OPT_VERSION)
		str_printf(to, "a version, as %d.%d", OPTIONS_D_MAJOR,
		    OPTIONS_D_MINOR);
	else if (id == OPT_AMIN)
		str_add(to, "stability attributes, as Stable/Stable/Common");
	else
		str_printf(to, "a text, as in %s=TEXT", option_rows[id].name);
}

static void
option_add_accepted(struct str *to, enum option_id id)
{
	const struct option_row *row = &option_rows[id];

	switch (row->kind) {
	case OPTK_FLAG:
		if (row->phase == OPTP_COMPILE)
			str_printf(to, "%s, without a value", row->name);
		else
			str_add(to,
			    id == OPT_DEMANGLE ? "yes, no or full" :
						 "yes or no");
		break;
	case OPTK_INT:
		str_add(to, "a number");
		option_add_range(to, id);
		break;
	case OPTK_SIZE:
		str_add(to, "bytes, as 4096, 64k, 4m or 1g");
		option_add_range(to, id);
		break;
	case OPTK_RATE:
		str_add(to, "a time, as 10ms or 1s, or a rate, as 100hz");
		break;
	case OPTK_SHARE: str_add(to, "percent, from 0 to 100"); break;
	case OPTK_STRING: option_add_string(to, id); break;
	case OPTK_POLICY: str_add(to, "switch, fill or ring"); break;
	case OPTK_NONE: break;
	}
}

char *
option_hint(const char *name, int error)
{
	struct str text = { 0 };
	int id = option_lookup(name);

	if (id < 0)
		return option_nearest(name);
	switch (error) {
	case -EINVAL:
		str_add(&text, "accepted: ");
		option_add_accepted(&text, (enum option_id)id);
		return str_take(&text);
	case -ENOTSUP:
		return mem_printf(
		    "this is D %d.%d", OPTIONS_D_MAJOR, OPTIONS_D_MINOR);
	case -EPERM: return mem_printf("give it to dtrap: -x %s", name);
	}
	return NULL;
}

enum fastpath
options_fastpath(const struct options *o)
{
	const char *word = o->text[OPT_FASTPATH];

	if (word == NULL || strcasecmp(word, "auto") == 0)
		return FASTPATH_AUTO;
	return strcasecmp(word, "on") == 0 ? FASTPATH_ON : FASTPATH_OFF;
}

enum sampling
options_sampling(const struct options *o)
{
	const char *word = o->text[OPT_SAMPLING];

	if (word == NULL || strcasecmp(word, "auto") == 0)
		return SAMPLING_AUTO;
	return strcasecmp(word, "user") == 0 ? SAMPLING_USER : SAMPLING_STOPS;
}
