/* Packages of Go have a slash in their names. */
pid1::net/http.Get:entry
{
	exit(0);
}
