/* Known to find no room. */
#pragma D option scratchsize=64
BEGIN
{
	copyin(16, 65);
}
