/* mutex_owned() asks a kernel: it is refused by name. */

BEGIN
{
	mutex_owned();
	exit(0);
}
