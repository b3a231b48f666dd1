/*
 * Hosts and ports.  Those of the documentation (RFC 5737, 3849) have no names
 * anywhere; what is no address is shown as it is.
 */
/* @opts: -q */

struct in6_addr *six;

BEGIN
{
	printf("%I %I\n", "192.0.2.77", "2001:db8::1");
	printf("%I %I\n", "300.1.1.1", "");
	printf("%I\n", htonl(0xc000024d));
	six = alloca(sizeof (struct in6_addr));
	six->in6_u.u6_addr16[0] = htons(0x2001);
	six->in6_u.u6_addr16[1] = htons(0xdb8);
	printf("[%14I] [%-12I]\n", "192.0.2.77", "192.0.2.77");
	printf("%P [%6P]\n", htons(64999), htons(64998));
	exit(0);
}
