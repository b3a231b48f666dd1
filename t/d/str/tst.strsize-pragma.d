/* The same set from the program. */

#pragma D option quiet
#pragma D option strsize=16

BEGIN
{
	s = "0123456789abcdefghij";
	printf("%s\n", s);
	exit(0);
}
