/* msgdsize() asks a kernel: it is refused by name. */

BEGIN
{
	msgdsize();
	exit(0);
}
