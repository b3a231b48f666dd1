/* What is neither an entry nor a return has its whole name. */
/* @opts: -x flowindent */
BEGIN { trace(1); }
tick-1ms { trace("two"); exit(0); }
