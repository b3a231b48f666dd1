/* A folder is no file to write. */
BEGIN
{
	freopen(".");
}
