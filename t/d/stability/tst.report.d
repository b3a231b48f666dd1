/* The least of the descriptions and of the names, before anything fires. */
/* @opts: -q -v */
dtrace:::BEGIN { trace("now"); }
BEGIN { trace(curthread != NULL); exit(0); }
