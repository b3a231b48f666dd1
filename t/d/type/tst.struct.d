/* Structs: nested, copied whole, in globals and through pointers. */
/* @opts: -q */

struct point {
	int x;
	int y;
};

struct line {
	char tag;
	struct point from, to;
	struct {
		short a;
		long b;
	} extra;
	struct point *at;
};

struct line l, m;
struct line *p;

BEGIN
{
	l.tag = 'L';
	l.from.x = -1;
	l.to.y = 7;
	l.extra.a = 70000;
	l.extra.b = 1 << 40;
	m = l;
	l.to.y = 8;
	printf("%c %d %d %d %d\n", m.tag, m.from.x, m.from.y, m.to.x, m.to.y);
	printf("%d %d\n", m.extra.a, m.extra.b);
	p = alloca(sizeof (struct line));
	p->tag = 'P';
	p->to.x = 3;
	p->at = &p->to;
	p->at->y = p->at->x * 2;
	printf("%c %d %d %d\n", p->tag, p->to.x, p->to.y, (*p).at->y);
	m = *p;
	printf("%c %d\n", m.tag, m.to.y);
	printf("%d %d %d %d\n", (int)sizeof (struct line), (int)sizeof (l.extra),
	    (int)sizeof (p), (int)sizeof (*p));
	exit(0);
}
