/* mutex_type_adaptive() asks a kernel: it is refused by name. */

BEGIN
{
	mutex_type_adaptive();
	exit(0);
}
