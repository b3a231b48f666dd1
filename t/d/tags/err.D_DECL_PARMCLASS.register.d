/* A key has no storage class. */
int x[register int];
