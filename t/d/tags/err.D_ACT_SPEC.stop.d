/* What cannot be undone is not tried. */
/* @opts: -w */
BEGIN
{
	speculate(1);
	stop();
}
