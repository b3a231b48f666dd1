/*
 * Reads /proc/cpuinfo; see cpuinfo.h.
 */
#include "tracer/ptrace/cpuinfo.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "dlang/base/base.h"
#include "dlang/base/vec.h"

struct cpuinfo {
	VEC(unsigned) mhz; /* by processor, in the order of the file */
	char fpu[32];
	bool read;
};

static struct cpuinfo known;

/* The instructions for floating point that a line of flags names, oldest
 * first. */
static void
take_flags(struct cpuinfo *k, const char *flags)
{
	static const char *const words[] = { "fpu", "sse", "sse2", "avx",
		"avx2", "avx512f" };
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i]);
		const char *p = flags;
		while ((p = strstr(p, words[i])) != NULL &&
		    (p[-1] != ' ' || strchr(" \n", p[len]) == NULL))
			p += len;
		if (p != NULL && used + len + 2 <= sizeof(k->fpu))
			used += (size_t)snprintf(k->fpu + used,
			    sizeof(k->fpu) - used, "%s%s", used != 0 ? " " : "",
			    words[i]);
	}
}

static void
take_line(struct cpuinfo *k, const char *line)
{
	const char *value = strchr(line, ':');

	if (value == NULL)
		return;
	if (strncmp(line, "cpu MHz", 7) == 0)
		*vec_push(&k->mhz) = (unsigned)strtoul(value + 1, NULL, 10);
	else if (strncmp(line, "flags", 5) == 0 && k->fpu[0] == '\0')
		take_flags(k, value + 1);
}

/* Read once, because reading takes too long for a hit. */
static struct cpuinfo *
cpuinfo(void)
{
	struct cpuinfo *k = &known;
	char *line = NULL;
	size_t room = 0;

	if (k->read)
		return k;
	k->read = true;
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f != NULL && getline(&line, &room, f) > 0)
		take_line(k, line);
	free(line);
	if (f != NULL)
		fclose(f);
	return k;
}

unsigned
cpuinfo_mhz(uint64_t cpu)
{
	const struct cpuinfo *k = cpuinfo();

	return cpu < k->mhz.len ? k->mhz.at[cpu] : 0;
}

void
cpuinfo_fpu(char *buf, uint32_t size)
{
	snprintf(buf, size, "%s", cpuinfo()->fpu);
}

void
cpuinfo_type(char *buf, uint32_t size)
{
	struct utsname u;

	snprintf(buf, size, "%s", uname(&u) == 0 ? u.machine : "");
}
