/* ... nor of a system call. */
openat { exit(0); }
