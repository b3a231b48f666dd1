/* @opts: -x tregs=2 */
/* More keys than the option allows. */

BEGIN
{
	@[1, 2, 3] = count();
}
