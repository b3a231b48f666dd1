/* No such probe. */

nosuch:::probe
{
	exit(0);
}
