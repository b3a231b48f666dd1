/* Linux's numbers of devices: 12 bits of major, 20 of minor around them. */
/* @opts: -q */

BEGIN
{
	printf("%d %d\n", getmajor(0x803), getminor(0x803));
	printf("%d %d\n", getmajor(0xfff00), getminor(0xfff00));
	printf("%d %d\n", getmajor(0x12300145), getminor(0x12300145));
	exit(0);
}
