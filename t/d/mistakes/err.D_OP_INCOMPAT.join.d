/* Strings are joined by a function. */
BEGIN { trace(execname + "!"); }
