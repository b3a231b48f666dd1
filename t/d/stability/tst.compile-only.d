/* With -e, also the probes. */
/* @opts: -e -v */
dtrace:::BEGIN, dtrace:::END { trace(1); }
dtrace:::BEGIN { trace(2); }
