/*
 * What D does not know of C's own headers.
 */
#ifndef TRACER_PROGRAM_CPP_HEADERS_H
#define TRACER_PROGRAM_CPP_HEADERS_H

/*
 * In text that cpp says is of a system header: functions with a body, and the
 * compiler's own words, become blanks.  Lines stay where they are.
 */
void cpp_headers_reduce(char *text);

#endif
