/* Three registers carry operands; there must be more. */
/* @opts: -x iregs=3 */
BEGIN
{
	trace((((pid + (1 + (pid + (2 + pid)))))));
}
