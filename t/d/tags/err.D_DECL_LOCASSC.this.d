/* Clause-locals have no keys. */
this int x[int];
