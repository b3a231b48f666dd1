/*
 * The scan goes on at the delimiter that ended the last token: with other
 * delimiters it is text again.  A scan over gives NULL, one never begun is an
 * error, and each clause begins its own.
 */
/* @opts: -q */

BEGIN
{
	printf("%s\n", strtok("a-b+c+d", "-+"));
	printf("%s\n", strtok(NULL, "+"));
	printf("%s\n", strtok(NULL, "-+"));
	this->rest = strtok(NULL, "/");
	printf("%s\n", this->rest);
	printf("%d %d\n", strtok(NULL, "/") == NULL, strtok(NULL, "") == NULL);
	printf("%d\n", strtok("", "") == NULL);
}

BEGIN
{
	s = "one two three";
	s = strtok(s, " ");
	printf("%s,%s\n", s, strtok(NULL, " "));
}

BEGIN
{
	printf("%s\n", strtok(NULL, " "));
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d at 0x%x\n", (int)arg4, (int)arg5);
}
