/* A misspelt system call. */
syscall::raed:entry { exit(0); }
