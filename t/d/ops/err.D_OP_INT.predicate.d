BEGIN
/"one" & "two"/
{
	exit(0);
}
