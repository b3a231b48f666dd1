/* memref() asks a kernel: it is refused by name. */

BEGIN
{
	memref(0, 1);
	exit(0);
}
