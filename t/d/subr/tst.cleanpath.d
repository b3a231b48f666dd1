/* No empty component, no `.', and `..' only where a relative path begins. */
/* @opts: -q */

BEGIN
{
	printf("%s %s %s\n", cleanpath("//usr/./lib//"), cleanpath("/.."),
	    cleanpath("/a/b/../../../c/."));
	printf("%s %s %s\n", cleanpath("a/.."), cleanpath("./"),
	    cleanpath("a/../../b/../.."));
	printf("<%s> %s\n", cleanpath(""), cleanpath("...//.a./b.."));
	exit(0);
}
