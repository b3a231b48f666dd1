/* A thread-local associative array. */
/* @opts: -q */

BEGIN
{
	self->a[1] = 100;
	self->a[2] = 200;
	printf("%d\n", self->a[1] + self->a[2] + self->a[3]);
	exit(0);
}
