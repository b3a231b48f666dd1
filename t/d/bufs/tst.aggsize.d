/* Not one entry would fit: tracing does not begin. */
/* @opts: -q -x aggsize=32 */
/* @status: 1 */

BEGIN
{
	@["a"] = count();
	exit(0);
}
