/* A thread-local variable; 0 before and after. */
/* @opts: -q */

self int y;

BEGIN
{
	printf("%d ", self->y);
	self->x = 5;
	self->y = self->x + 1;
	printf("%d %d ", self->x, self->y);
	self->x = 0;
	printf("%d\n", self->x);
	exit(0);
}
