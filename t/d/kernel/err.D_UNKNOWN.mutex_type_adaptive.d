/* mutex_type_adaptive() asks a kernel: it is refused by name. */

BEGIN
{
	mutex_type_adaptive(0);
	exit(0);
}
