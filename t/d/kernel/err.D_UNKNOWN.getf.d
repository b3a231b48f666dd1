/* getf() asks a kernel: it is refused by name. */

BEGIN
{
	getf(0);
	exit(0);
}
