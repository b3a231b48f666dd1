/* rw_write_held() asks a kernel: it is refused by name. */

BEGIN
{
	rw_write_held(0);
	exit(0);
}
