/* As it is read, and split; nothing has a type yet. */
/* @opts: -q -x tree=3 */
int x;
BEGIN { if (x + 1) x = 2; exit(0); }
