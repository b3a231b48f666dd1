/* Probes with different arguments: which two, and how they differ. */
syscall:::entry { trace(args[0]); }
