/*
 * Removes parts of system headers that D does not accept.
 */
#ifndef TRACER_PROGRAM_CPP_HEADERS_H
#define TRACER_PROGRAM_CPP_HEADERS_H

/*
 * In preprocessed text from system headers, replace functions with a body and
 * compiler extensions by blanks.  Line numbers do not change.
 */
void cpp_headers_reduce(char *text);

#endif
