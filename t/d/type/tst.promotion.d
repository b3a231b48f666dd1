/* What is narrower is made an int first; then the wider type wins, then the
 * unsigned one. */
/* @opts: -q */

char c;
short s;
unsigned char uc;
unsigned int ui;
long l;

BEGIN
{
	printf("%d %d %d %d\n", (int)sizeof (c + c), (int)sizeof (c + s),
	    (int)sizeof (s * 1), (int)sizeof (c + l));
	printf("%d %d %d\n", (int)sizeof (~c), (int)sizeof (-s),
	    (int)sizeof (c << l));
	printf("%d %d\n", (int)sizeof (c == l), (int)sizeof (l && l));
	c = -1;
	ui = 1;
	/* char and unsigned int: unsigned int, and -1 is its largest. */
	printf("%d %d\n", c < ui, c < (int)ui);
	/* unsigned int and long: long. */
	l = -1;
	printf("%d\n", l < ui);
	c = 127;
	c++;
	uc = 0;
	uc--;
	s = 32767;
	s += 2;
	printf("%d %d %d\n", c, uc, s);
	ui = 1 << 33 | 5;
	printf("%d\n", ui);
	exit(0);
}
