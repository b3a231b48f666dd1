/* Keys are known, all of them. */
int x[int, ...];
