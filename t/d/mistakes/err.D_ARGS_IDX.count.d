/* An argument that is not there: how many are. */
syscall::read:entry { trace(args[3]); }
