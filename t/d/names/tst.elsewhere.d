/* Names that scripts of other systems take from their headers. */
/* @opts: -q */

in6_addr_t *six;

BEGIN
{
	six = (in6_addr_t *)alloca(sizeof (in6_addr_t));
	six->in6_u.u6_addr8[15] = 1;
	printf("%s %d\n", inet_ntoa6(six), sizeof (in6_addr_t));
	printf("%d%d%d\n", 255 & MAP_INITDATA, 255 & MAP_TEXT, 255 & MAP_ALIGN);
	exit(0);
}
