/* @opts: -q */
BEGIN
{
	setopt("nonsense");
	setopt("quiet", "perhaps");
	setopt("bufsize", "1m");
	setopt("define", "x=1");
	exit(0);
}
