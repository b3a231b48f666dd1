/* A program may have its own idea of what headers define. */
/* @opts: -q */

struct in6_addr {
	uint8_t mine[16];
};

BEGIN
{
	this->p = (struct in6_addr *)alloca(16);
	this->p->mine[0] = 0xfe;
	printf("%s\n", inet_ntoa6(this->p));
	exit(0);
}
