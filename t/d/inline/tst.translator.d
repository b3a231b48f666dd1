/*
 * Translators, by value and by pointer: each member is its expression, done
 * when it is asked for.
 */
/* @opts: -q */

struct point {
	int x;
	int y;
};

struct text {
	string name;
	long sum;
	int bad;
	int left_out;
};

struct twice {
	long number;
	string name;
};

translator struct text < struct point *p > {
	name = p->x > 0 ? "right" : "left";
	sum = p->x + p->y;
	bad = 1 / (p->x - p->x);
};

translator struct twice < struct point *p > {
	number = xlate < struct text > (p).sum * 2;
	name = strjoin("very ", xlate < struct text * > (p)->name);
};

translator struct twice < int n > {
	number = n * 2;
	name = lltostr(n);
};

struct point *p;

BEGIN
{
	p = alloca(2 * sizeof (struct point));
	p->x = 3;
	p->y = 4;
	p[1].x = -5;
	printf("%s %d\n", xlate < struct text > (p).name,
	    xlate < struct text > (p).sum);
	printf("%s %d\n", xlate < struct text * > (p + 1)->name,
	    xlate < struct text * > (p + 1)->sum);
	printf("%s %d\n", xlate < struct twice > (p).name,
	    xlate < struct twice > (p).number);
	printf("%s %d\n", xlate < struct twice > (21).name,
	    xlate < struct twice > (21).number);
	exit(0);
}
