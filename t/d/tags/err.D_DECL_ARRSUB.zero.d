/* An array has one element at least. */
int x[0];
