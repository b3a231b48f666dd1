/* msgsize() asks a kernel: it is refused by name. */

BEGIN
{
	msgsize(0);
	exit(0);
}
