/* ddi_pathname() asks a kernel: it is refused by name. */

BEGIN
{
	ddi_pathname(0, 0);
	exit(0);
}
