/* msgsize() asks a kernel: it is refused by name. */

BEGIN
{
	msgsize();
	exit(0);
}
