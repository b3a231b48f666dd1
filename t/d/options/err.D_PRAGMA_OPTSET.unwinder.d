/* One of three words. */
#pragma D option unwinder=gdb
BEGIN { exit(0); }
