/* No arguments at all. */
syscall::getpid:entry { trace(args[0]); }
