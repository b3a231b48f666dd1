/* Of more than fits, a ring keeps the end. */
/* @opts: -q -x bufpolicy=ring -x bufsize=128 */
BEGIN { trace(1); }
BEGIN { trace(2); }
BEGIN { trace(3); }
BEGIN { trace(4); }
BEGIN { trace(5); }
BEGIN { exit(0); }
