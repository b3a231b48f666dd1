/* The rate is of one format. */
#pragma D option snaprate=nonsense
BEGIN
{
	exit(0);
}
