/* A system call that begins so. */
syscall::wait:entry { exit(0); }
