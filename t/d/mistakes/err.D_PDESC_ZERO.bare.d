/* A name alone is that of a probe, not of a function. */
malloc { exit(0); }
