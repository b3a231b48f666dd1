/* Pointers: to pointers, their arithmetic, differences, comparisons. */
/* @opts: -q */

int *p;
int **pp;
int ***ppp;
char *c;

BEGIN
{
	p = alloca(4 * sizeof (int));
	pp = alloca(2 * sizeof (int *));
	ppp = alloca(sizeof (int **));
	*p = 10;
	p[1] = 11;
	*(p + 2) = 12;
	p[3] = 13;
	pp[0] = p;
	pp[1] = p + 2;
	*ppp = pp;
	printf("%d %d %d %d\n", **pp, *pp[1], pp[1][1], (**ppp)[1]);
	***ppp += 5;
	printf("%d\n", *p);
	printf("%d %d %d\n", pp[1] - pp[0], &p[3] - p, (int)sizeof (p - p));
	printf("%d %d %d %d\n", p < pp[1], p == pp[0], p != NULL, !p);
	p++;
	printf("%d ", *p++);
	printf("%d ", *p--);
	p += 2;
	printf("%d ", *p);
	p -= 3;
	printf("%d\n", *p);
	c = (char *)p;
	printf("%d %d\n", *(c + 4), *(int *)(c + 8));
	printf("%d %d\n", (int)sizeof (*c), (int)sizeof (***ppp));
	exit(0);
}
