/* The letters of ASCII and nothing else. */
/* @opts: -q */

BEGIN
{
	printf("%s %s\n", tolower("MiXed-42_[Z]"), toupper("MiXed-42_{z}"));
	printf("<%s> <%s>\n", tolower(""), toupper(""));
	printf("%d %d\n", tolower("\xc4")[0] & 0xff, toupper("\xe4")[0] & 0xff);
	exit(0);
}
