/* memstr() asks a kernel: it is refused by name. */

BEGIN
{
	memstr();
	exit(0);
}
