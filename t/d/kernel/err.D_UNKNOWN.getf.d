/* getf() asks a kernel: it is refused by name. */

BEGIN
{
	getf();
	exit(0);
}
