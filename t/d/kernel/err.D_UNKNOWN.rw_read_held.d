/* rw_read_held() asks a kernel: it is refused by name. */

BEGIN
{
	rw_read_held(0);
	exit(0);
}
