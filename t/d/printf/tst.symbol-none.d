/* Addresses where there is nothing, as values and in conversions. */
/* @opts: -q */

BEGIN
{
	printf("%a %A\n", 0x10, 0x20);
	printf("%A %A %A %A\n", usym(1), ufunc(2), umod(3), uaddr(4));
	printf("%a %a %a\n", sym(5), func(6), mod(7));
	@[usym(0x11), sym(0x12)] = count();
	printa("%A %a %@d\n", @);
	trace(uaddr(0x30));
	exit(0);
}
