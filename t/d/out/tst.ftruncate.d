/* What was written to the file so far is gone. */
/* @opts: -q */

BEGIN
{
	printf("gone\n");
	ftruncate();
	printf("stays\n");
	exit(0);
}
