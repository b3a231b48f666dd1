/* Quiet, asked for by the program. */

#pragma D option quiet

BEGIN
{
	printf("quiet\n");
	exit(0);
}
