/* Addresses as text; IPv6 in the form that shows IPv4 as such, or the RFC's. */
/* @opts: -q */

ipaddr_t *four;
struct in6_addr *six;

BEGIN
{
	four = alloca(sizeof (ipaddr_t));
	*four = htonl(0xc0a80102);
	printf("%s %s\n", inet_ntoa(four), inet_ntop(AF_INET, four));
	six = alloca(sizeof (struct in6_addr));
	printf("%s\n", inet_ntoa6(six));
	six->in6_u.u6_addr8[15] = 1;
	printf("%s\n", inet_ntoa6(six));
	six->in6_u.u6_addr32[3] = *four;
	printf("%s %s\n", inet_ntoa6(six), inet_ntoa6(six, 1));
	six->in6_u.u6_addr16[5] = 0xffff;
	printf("%s %s %s\n", inet_ntoa6(six), inet_ntoa6(six, 0),
	    inet_ntop(AF_INET6, six));
	six->in6_u.u6_addr16[0] = htons(0xfe80);
	printf("%s\n", inet_ntoa6(six));
	exit(0);
}
