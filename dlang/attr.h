/*
 * Stability: how firmly a name is promised to stay, in three parts that are
 * written Name/Data/Class, as in "Evolving/Evolving/ISA". A greater value is a
 * firmer promise.
 */
#ifndef DLANG_ATTR_H
#define DLANG_ATTR_H

#include <stdbool.h>
#include <stdint.h>

enum attr_level {
	ATTR_INTERNAL,
	ATTR_PRIVATE,
	ATTR_OBSOLETE,
	ATTR_EXTERNAL,
	ATTR_UNSTABLE,
	ATTR_EVOLVING,
	ATTR_STABLE,
	ATTR_STANDARD,
	ATTR_LEVELS
};

enum attr_class {
	ATTR_UNKNOWN,
	ATTR_CPU,
	ATTR_PLATFORM,
	ATTR_GROUP,
	ATTR_ISA,
	ATTR_COMMON,
	ATTR_CLASSES
};

struct attr {
	uint8_t name, data; /* enum attr_level */
	uint8_t class;      /* enum attr_class */
};

/* The parts of a provider's interface that have attributes of their own. */
enum attr_part {
	ATTR_PROVIDER,
	ATTR_MODULE,
	ATTR_FUNCTION,
	ATTR_NAME,
	ATTR_ARGS,
	ATTR_PARTS
};

/* The attributes of names that a program defines itself. */
#define ATTR_DEFAULT ((struct attr){ ATTR_STABLE, ATTR_STABLE, ATTR_COMMON })

const char *attr_level_name(unsigned level);
const char *attr_class_name(unsigned class);

/* Parse "N/D/C"; case does not matter.  False on a syntax error. */
bool attr_parse(const char *s, struct attr *out);
/* The same from the three words. */
bool attr_words(
    const char *name, const char *data, const char *class, struct attr *out);

/* The lesser of the two, for each part. */
struct attr attr_min(struct attr a, struct attr b);
/* Is any part of a less than that of b? */
bool attr_less(struct attr a, struct attr b);

#endif
