/* The size of an array is not left out. */
int x[];
