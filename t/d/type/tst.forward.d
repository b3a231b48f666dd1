/* A struct that is only named can be pointed to, also by itself. */
/* @opts: -q */

struct later;
struct later *p;
struct never *n;

struct later {
	int a;
	struct later *next;
};

BEGIN
{
	p = alloca(sizeof (struct later));
	p->a = 4;
	p->next = p;
	printf("%d %d %d\n", p->next->next->a, n == NULL, (int)sizeof (n));
	exit(0);
}
