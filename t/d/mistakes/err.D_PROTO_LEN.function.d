/* Too many arguments: how the function is called. */
BEGIN { trace(strlen("a", 1)); }
