/* memref() asks a kernel: it is refused by name. */

BEGIN
{
	memref();
	exit(0);
}
