/* A quote is missing. */
BEGIN { printf("%d\n, pid); }
