/* A description is missing. */
BEGIN, { exit(0); }
