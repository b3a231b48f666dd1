/* Comments between and within clauses. */
/* @opts: -q */

/* before */
BEGIN /* after the name */
{ /* in
   * the
   * clause */
	printf("a" /* here */);
	/* printf("b"); */
	printf("c\n");
	exit(0);
}
/* behind */
