/* rw_read_held() asks a kernel: it is refused by name. */

BEGIN
{
	rw_read_held();
	exit(0);
}
