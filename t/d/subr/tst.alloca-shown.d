/* A pointer into scratch is shown by its place there, not the VM's. */
/* @opts: -q */

struct part { int a, b; } *q;

BEGIN
{
	p = (char *)alloca(16);
	q = alloca(sizeof (struct part));
	trace(p);
	printf(" %p %d %d\n", p + 3, (int)(q == NULL), (int)(p + 1 - p));
	trace(&q->b);
	@[&p[2]] = count();
	exit(0);
}
