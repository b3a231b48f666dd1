/* panic() asks a kernel: it is refused by name. */

BEGIN
{
	panic();
	exit(0);
}
