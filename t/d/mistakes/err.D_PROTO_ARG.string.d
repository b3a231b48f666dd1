/* A string where the address of one is wanted. */
BEGIN { trace(copyinstr(execname)); }
