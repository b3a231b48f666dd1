/* stringof and the cast make a string of characters anywhere. */
/* @opts: -q */

char a[8];
char *c;

BEGIN
{
	a[0] = 'h';
	a[1] = 'i';
	printf("%s %s %s\n", stringof(a), (string)a, stringof a);
	printf("%d %d\n", stringof(a) == "hi", a == "hi");
	c = (char *)alloca(4);
	c[0] = 'o';
	c[1] = 'k';
	printf("%s %d %s\n", stringof(c), c == "ok", (string)(c + 1));
	s = "text";
	printf("%c %c %d\n", s[0], s[3], s[4]);
	printf("%c\n", *((char *)s + 1));
	printf("%d\n", "\xff" > "a");
	exit(0);
}
