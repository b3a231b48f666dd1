/* msgdsize() asks a kernel: it is refused by name. */

BEGIN
{
	msgdsize(0);
	exit(0);
}
