/* Which provider is meant, nobody said. */
#pragma D option amin=Stable/Stable/Common
BEGIN
{
	trace(1);
}
