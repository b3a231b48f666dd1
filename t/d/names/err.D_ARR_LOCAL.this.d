/* Clause-local variables are not associative. */

BEGIN
{
	this->a[1] = 1;
}
