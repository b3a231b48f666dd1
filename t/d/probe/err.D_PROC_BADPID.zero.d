/* There is no process 0. */

pid0:::entry
{
	exit(0);
}
