/* System calls that have not the same arguments. */
syscall:::entry { trace(args[0]); }
