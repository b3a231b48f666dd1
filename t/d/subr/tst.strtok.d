/*
 * The scan goes on at the delimiter that ended the last token: with other
 * delimiters it is text again.  A scan over gives NULL, one never begun is an
 * error.  It lasts for a firing, whatever clauses do to scratch; an error in
 * between has its own.
 */
/* @opts: -q */

BEGIN
{
	printf("%s\n", strtok(NULL, " "));
}

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
	s = "one two three four";
	s = strtok(s, " ");
	printf("%s,%s\n", s, strtok(NULL, " "));
}

BEGIN
{
	this->p = alloca(64);
	bcopy("0123456789012345678901234567890123456789", this->p, 40);
	printf("%s\n", strtok(NULL, " "));
}

BEGIN
{
	strlen(NULL);
}

BEGIN
{
	printf("%s\n", strtok(NULL, "\n"));
	printf("%s\n", strtok("a longer string than any of those before", "b"));
	exit(0);
}

ERROR
{
	printf("fault %d at 0x%x\n", (int)arg4, (int)arg5);
	e = "in between";
	printf("%s\n", strtok(e, " "));
	printf("%s\n", strtok(NULL, " "));
}
