/* mutex_type_spin() asks a kernel: it is refused by name. */

BEGIN
{
	mutex_type_spin(0);
	exit(0);
}
