/* Names have a known size. */
BEGIN
{
	ustack(1, pid);
}
