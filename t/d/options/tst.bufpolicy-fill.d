/* ... and fill the beginning, and ends. */
/* @opts: -q -x bufpolicy=fill -x bufsize=128 */
BEGIN { trace(1); }
BEGIN { trace(2); }
BEGIN { trace(3); }
BEGIN { trace(4); }
BEGIN { trace(5); }
tick-1ms { n++; }
