/* rw_iswriter() asks a kernel: it is refused by name. */

BEGIN
{
	rw_iswriter(0);
	exit(0);
}
