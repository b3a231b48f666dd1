/* Nobody knows how much is there. */

BEGIN
{
	print((void *)8);
}
