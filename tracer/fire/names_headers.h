/*
 * The headers whose names are shown instead of numbers.  They are read twice: by
 * the compiler for names.c, and by names.awk for the names themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
