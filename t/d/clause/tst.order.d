/* Clauses run in the order of the program, whatever stands between. */
/* @opts: -q */

BEGIN { printf("1"); }
END { printf("e1"); }
BEGIN { printf("2"); }
END { printf("e2"); }
BEGIN { printf("3"); exit(0); }
END { printf("e3\n"); }
