/* A parenthesis is missing. */
BEGIN { printf("%d\n", pid; exit(0); }
