/* ddi_pathname() asks a kernel: it is refused by name. */

BEGIN
{
	ddi_pathname();
	exit(0);
}
