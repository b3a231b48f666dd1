/* mutex_owned() asks a kernel: it is refused by name. */

BEGIN
{
	mutex_owned(0);
	exit(0);
}
