/* @opts: -q */
/* A string that is not there equals NULL, which is as wide as an int. */
BEGIN
{
	found = strchr("abc", 'z');
	printf("%d %d %d\n", found == NULL, found != NULL, sizeof(NULL));
	exit(0);
}
