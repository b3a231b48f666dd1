/*
 * `dtrap merge STREAM...'.
 */
#ifndef TRACER_MERGE_COMMAND_H
#define TRACER_MERGE_COMMAND_H

int merge_main(int argc, char **argv, const char *name);

#endif
