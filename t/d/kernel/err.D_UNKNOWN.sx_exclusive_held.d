/* sx_exclusive_held() asks a kernel: it is refused by name. */

BEGIN
{
	sx_exclusive_held(0);
	exit(0);
}
