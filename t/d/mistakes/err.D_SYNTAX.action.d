/* No braces. */
syscall::read:entry trace(arg0)
