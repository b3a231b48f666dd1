/* Set back while tracing. */
/* @opts: -q -x stackformat=folded */
BEGIN
{
	@a[ustack(), 1] = count();
	printa(@a);
	setopt("stackformat", "default");
	printa(@a);
	trunc(@a);
	exit(0);
}
