/* Too few arguments of a function that takes several numbers of them. */
BEGIN { trace(substr("abc")); }
