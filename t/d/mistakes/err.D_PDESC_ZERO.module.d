/* A module that system calls are not in. */
syscall:libc:read:entry { exit(0); }
