/* %C and %S show what cannot be printed as a D program would write it. */
/* @opts: -q */

BEGIN
{
	printf("%c%c%c\n", 'a', 66, 0x43);
	printf("%C %C %C %C %C\n", 'a', 10, 9, 1, 200);
	printf("[%S] [%S]\n", "plain", "a\tb\nc\001");
	printf("[%4c] [%-4c] [%8S] [%-8S]\n", 'x', 'y', "a\n", "b\n");
	exit(0);
}
