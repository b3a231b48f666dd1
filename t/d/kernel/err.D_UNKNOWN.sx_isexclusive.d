/* sx_isexclusive() asks a kernel: it is refused by name. */

BEGIN
{
	sx_isexclusive(0);
	exit(0);
}
