/* An argument too many. */

BEGIN
{
	tracemem(&`environ, 8, 8, 8);
}
