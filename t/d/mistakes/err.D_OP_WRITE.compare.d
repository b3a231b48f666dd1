/* One equals sign is no comparison. */
BEGIN
/execname = "cat"/
{
	exit(0);
}
