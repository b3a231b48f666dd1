/* stack() asks a kernel: it is refused by name. */

BEGIN
{
	stack();
	exit(0);
}
