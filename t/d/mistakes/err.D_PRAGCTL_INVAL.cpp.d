#include <errno.h>
/* A directive of the C preprocessor, which was not asked for. */
BEGIN { exit(0); }
