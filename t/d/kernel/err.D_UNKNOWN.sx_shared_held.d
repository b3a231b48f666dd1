/* sx_shared_held() asks a kernel: it is refused by name. */

BEGIN
{
	sx_shared_held(0);
	exit(0);
}
