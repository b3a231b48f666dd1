/* What #line says is where an error is said to be. */
/* @opts: -q */
/* @status: 1 */
#line 100 "other.d"

BEGIN
{
	trace(nobody);
}
