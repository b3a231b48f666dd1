/* Addresses of the link layer, by their kind. */
/* @opts: -q */

BEGIN
{
	p = (uint8_t *)alloca(20);
	p[0] = 0x02;
	p[5] = 0xfe;
	p[19] = 0x10;
	printf("%s\n", link_ntop(ARPHRD_ETHER, p));
	kind = ARPHRD_INFINIBAND;
	printf("%s\n", link_ntop(kind, p));
}

BEGIN
{
	printf("%s\n", link_ntop(3, NULL));
}

BEGIN
{
	printf("%s\n", link_ntop(ARPHRD_ETHER, NULL));
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d\n", (int)arg4);
}
