/* There is no memory to write to; -w does not make the address good. */
/* @opts: -q -w */

BEGIN
{
	p = (char *)alloca(8);
	copyout(p, 16, 8);
	printf("never\n");
}

BEGIN
{
	p = (char *)alloca(8);
	copyoutstr(p, 24, 8);
	printf("never\n");
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d at %d\n", (int)arg4, (int)arg5);
}
