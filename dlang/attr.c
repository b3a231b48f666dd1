/*
 * Stability attributes; see attr.h.
 */
#include "dlang/attr.h"

#include <string.h>
#include <strings.h>

#include "dlang/base/base.h"

static const char *const levels[ATTR_LEVELS] = { "Internal", "Private",
	"Obsolete", "External", "Unstable", "Evolving", "Stable", "Standard" };
static const char *const classes[ATTR_CLASSES] = { "Unknown", "CPU", "Platform",
	"Group", "ISA", "Common" };

const char *
attr_level_name(unsigned level)
{
	return level < ATTR_LEVELS ? levels[level] : "?";
}

const char *
attr_class_name(unsigned class)
{
	return class < ATTR_CLASSES ? classes[class] : "?";
}

static bool
find(const char *s, size_t len, const char *const names[], size_t n,
    uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(names[i]) == len &&
		    strncasecmp(names[i], s, len) == 0) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return false;
}

bool
attr_parse(const char *s, struct attr *out)
{
	const char *a = strchr(s, '/');
	const char *b = a != NULL ? strchr(a + 1, '/') : NULL;

	return b != NULL &&
	    find(s, (size_t)(a - s), levels, ATTR_LEVELS, &out->name) &&
	    find(a + 1, (size_t)(b - a - 1), levels, ATTR_LEVELS, &out->data) &&
	    find(b + 1, strlen(b + 1), classes, ATTR_CLASSES, &out->class);
}

bool
attr_words(
    const char *name, const char *data, const char *class, struct attr *out)
{
	return find(name, strlen(name), levels, ATTR_LEVELS, &out->name) &&
	    find(data, strlen(data), levels, ATTR_LEVELS, &out->data) &&
	    find(class, strlen(class), classes, ATTR_CLASSES, &out->class);
}

struct attr
attr_min(struct attr a, struct attr b)
{
	return (struct attr){ .name = MIN(a.name, b.name),
		.data = MIN(a.data, b.data),
		.class = MIN(a.class, b.class) };
}

bool
attr_less(struct attr a, struct attr b)
{
	return a.name < b.name || a.data < b.data || a.class < b.class;
}
