/* An inline without attributes is what it contains. */
/* @opts: -q -v */
inline int here = curthread != NULL;
dtrace:::BEGIN { a = here; exit(0); }
