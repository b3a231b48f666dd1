/* This machine's order is the other one; twice is as before. */
/* @opts: -q */

BEGIN
{
	printf("%x %x %x\n", htons(0x0102), htonl(0x01020304),
	    htonll(0x0102030405060708));
	printf("%x %x %x\n", ntohs(0x0102), ntohl(0x01020304),
	    ntohll(0x0102030405060708));
	port = 8080;
	printf("%d %d %d\n", ntohs(htons(port)), ntohl(htonl(port)),
	    ntohll(htonll(port)));
	printf("%d %d %d\n", (int)sizeof (htons(1)), (int)sizeof (htonl(1)),
	    (int)sizeof (htonll(1)));
	/* What does not fit is not swapped. */
	printf("%x %x\n", htons(0x30102), ntohl(0x501020304));
	exit(0);
}
