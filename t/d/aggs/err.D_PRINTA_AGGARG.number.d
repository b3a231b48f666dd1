/* printa() of a number. */

BEGIN
{
	printa(1);
}
