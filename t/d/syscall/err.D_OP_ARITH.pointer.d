/* The second argument of read() is a pointer. */
syscall::read:entry { trace(args[1] * 2); }
