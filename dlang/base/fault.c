/*
 * Faults on demand; see fault.h.
 */
#include "dlang/base/fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/log.h"

static unsigned long left[FAULT_COUNT];

static const char *const names[FAULT_COUNT] = {
	[FAULT_ALLOC] = "alloc:",
	[FAULT_SLOT] = "slot:",
	[FAULT_MAP] = "map:",
	[FAULT_REMOTE] = "remote:",
	[FAULT_JIT] = "jit:",
	[FAULT_EXIT] = "exit:",
	[FAULT_GUARDIAN] = "guardian:",
};

static void
read_environment(void)
{
	const char *s = getenv("DTRAP_FAIL");

	while (s != NULL && *s != '\0') {
		for (size_t i = 0; i < FAULT_COUNT; i++)
			if (strncmp(s, names[i], strlen(names[i])) == 0)
				left[i] =
				    strtoul(s + strlen(names[i]), NULL, 10);
		s = strchr(s, ',');
		if (s != NULL)
			s++;
	}
}

void
fault_set(enum fault which, unsigned long n)
{
	fault_due(which); /* the environment has been read */
	left[which] = n;
}

bool
fault_due(enum fault which)
{
	static bool read;

	if (!read) {
		read = true;
		read_environment();
	}
	if (left[which] == 0 || --left[which] != 0)
		return false;
	LOG("fault", "%s this one", names[which]);
	return true;
}

/* ---- our own death ---- */

bool fault_on = true;

static bool asked;
static const char *point_wanted; /* POINT:N */
static size_t point_len;
static unsigned long passages;

void
fault_kill_set(const char *text)
{
	const char *colon = text != NULL ? strchr(text, ':') : NULL;

	asked = true;
	fault_on = colon != NULL;
	if (colon == NULL)
		return;
	point_wanted = text;
	point_len = (size_t)(colon - text);
	passages = strtoul(colon + 1, NULL, 10);
}

void
fault_passed(const char *point)
{
	if (!asked)
		fault_kill_set(getenv("DTRAP_KILL"));
	if (!fault_on || passages == 0 ||
	    strncmp(point, point_wanted, point_len) != 0 ||
	    point[point_len] != '\0' || --passages > 0)
		return;
	kill(getpid(), SIGKILL);
}
