/*
 * `dtrap merge STREAM...': a row of tracer/commands.c.
 */
#ifndef TRACER_MERGE_COMMAND_H
#define TRACER_MERGE_COMMAND_H

int command_merge(const char *name, int argc, char **argv);

#endif
