/* A size that is no number. */

BEGIN
{
	tracemem(0, "eight");
}
