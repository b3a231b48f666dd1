/*
 * `dtrap -H HOSTS ...': the same question to many hosts.
 *
 *	dtrap -H a,b        --stdin: job, heartbeats-->  ssh a dtrap host
 *	  merge  <--stdout: stream, stderr: messages---  ssh b dtrap host
 *
 * The transport is a command of the user's.  Nothing listens anywhere.
 */
#ifndef TRACER_MERGE_HOSTS_H
#define TRACER_MERGE_HOSTS_H

#include <stdbool.h>

/* Does this command line name hosts?  -H with -C is another option. */
bool hosts_are_named(int argc, char *const *argv, const char *optstring);

/* Returns the exit status. */
int hosts_main(int argc, char **argv, const char *name, const char *optstring);

#endif
