/* A thread-local takes what its value takes: three ints fit in 12 bytes. */
/* @opts: -q -x dynvarsize=12 */

self int a, b, c, d;

BEGIN
{
	printf("%d ", self->d);
	self->a = 1;
	self->b = 2;
	self->c = 3;
	self->d = 0;
	self->a = 0;
	self->d = 4;
	printf("%d %d %d %d\n", self->a, self->b, self->c, self->d);
	exit(0);
}
