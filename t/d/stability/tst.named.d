/* A provider that is named has its own attributes; "*" relies on nothing. */
/* @opts: -q -v */
dtrace:::BEGIN, dtrace:*:*:END { trace(1); exit(0); }
