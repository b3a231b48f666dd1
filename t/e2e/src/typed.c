/*
 * typed: functions with parameters and results of every kind that the calling
 * convention treats differently.  Before each call it says what the arguments
 * are, after it what the result is.
 */
#include <complex.h>
#include <stdbool.h>

#include "trigger.h"

enum color { RED, GREEN = 5, BLUE = -1 };

struct inner {
	char tag;
	int b[4];
};
struct outer {
	long first;
	struct inner a;
	struct outer *next;
	const char *name;
	enum color color;
	unsigned low : 3, high : 9;
};
typedef struct outer outer_t;

struct small {
	int a, b;
};
struct odd {
	char s[3];
};
struct mixed {
	double d;
	long n;
};
struct pair {
	long x, y;
};
struct three {
	float x, y, z;
};
struct big {
	long a[5];
};
struct bits {
	unsigned a : 3;
	int b : 5;
	long c : 40;
};
struct __attribute__((packed)) tight {
	char c;
	int i;
};
union either {
	float f;
	int i;
};
struct wide {
	long double x;
};
typedef float vec4 __attribute__((vector_size(16)));
struct vec {
	vec4 v;
};

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

/* ---- arguments ---- */

FN long
ints(signed char a, unsigned char b, short c, unsigned short d, int e,
    unsigned f, long g, unsigned char h, bool i, char j)
{
	return a + b + c + d + e + (long)f + g + h + i + j;
}

FN double
floats(float a, double b, int c, float d, long double e, double f)
{
	return (double)a + b + c + (double)d + (double)e + f;
}

FN float
nine(double a, double b, double c, double d, double e, double f, double g,
    double h, double i, float j)
{
	return (float)(a + b + c + d + e + f + g + h + i) + j;
}

FN struct pair
objects(struct small s, struct mixed m, struct pair p, struct three t,
    struct big b, struct odd o, struct bits k)
{
	return (struct pair){ s.a + s.b + m.n + b.a[4],
		p.x + p.y + o.s[1] + k.b + (long)t.z };
}

FN struct mixed
spill(long a, struct pair b, struct pair c, struct pair d, long e)
{
	return (struct mixed){ (double)(a + b.x + c.x) / 2, d.x + e };
}

FN union either
others(struct tight t, union either e, struct wide w, __int128 i, vec4 v,
    struct vec o)
{
	return (union either){ .f = (float)(t.i + (int)w.x + (int)i) + e.f +
		    v[1] + o.v[3] };
}

FN outer_t *
deep(outer_t *o, struct outer **where, enum color color, const char *text)
{
	*where = o;
	return text[0] == 0 && color == RED ? NULL : o;
}

/* ---- results ---- */

FN signed char
rchar(long n)
{
	return (signed char)n;
}

FN bool
rbool(long n)
{
	return n == 3;
}

FN unsigned short
rushort(long n)
{
	return (unsigned short)-n;
}

FN enum color
rcolor(long n)
{
	return n == 3 ? BLUE : GREEN;
}

FN struct small
rsmall(int a)
{
	return (struct small){ a, -a };
}

FN struct odd
rodd(char c)
{
	return (struct odd){ { c, (char)(c + 1), 0 } };
}

FN struct three
rthree(float f)
{
	return (struct three){ f, -f, f * 2 };
}

FN struct big
rbig(long n, struct pair p)
{
	return (struct big){ { n, n + 1, p.x, p.y, -n } };
}

FN long double
rlong(double d)
{
	return (long double)d * 3;
}

FN float _Complex rcf(float f)
{
	return f + f * 2 * I;
}

FN double _Complex rcd(double _Complex z)
{
	return z * 2;
}

FN long double _Complex rcl(double d)
{
	return d - d * 4 * I;
}

FN __int128
rint128(long n)
{
	return ((__int128)n << 64) + 7;
}

FN vec4
rvec(float f)
{
	return (vec4){ f, f + 1, f + 2, f + 3 };
}

FN void
rvoid(int n)
{
	__asm__ volatile("" : : "r"(n));
}

/* ---- saying ---- */

static void
arguments(long n)
{
	float f = (float)n / 2;
	double d = (double)n / 4;

	printf("ints %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", -n, 200 + n,
	    -300 - n, 65000 + n, -70000 - n, 4000000000 + n, -5000000000 - n,
	    250L + n, n & 1, 'a' + n);
	long l = ints((signed char)-n, (unsigned char)(200 + n),
	    (short)(-300 - n), (unsigned short)(65000 + n), (int)(-70000 - n),
	    (unsigned)(4000000000 + n), -5000000000 - n,
	    (unsigned char)(250 + n), n & 1, (char)('a' + n));
	printf("ints = %ld\n", l);

	printf("floats %.2f %.2f %d %.2f %.2f %.2f\n", (double)f, d, (int)n,
	    (double)-f, d * 3, -d);
	d = floats(f, d, (int)n, -f, (long double)d * 3, -d);
	printf("floats = %.2f\n", d);

	printf("nine %.2f %.2f %.2f %.2f\n", d, d + 7, d + 8, (double)f);
	f = nine(d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7, d + 8, f);
	printf("nine = %.2f\n", (double)f);
}

static void
objects_said(long n)
{
	struct small s = { (int)n, (int)-n };
	struct mixed m = { (double)n / 2, 100 + n };
	struct pair p = { -n, 1000 + n }, q = { n * 2, n * 3 };
	struct three t = { (float)n, (float)n / 2, (float)n / 4 };
	struct big b = { { n, n + 1, n + 2, n + 3, n + 4 } };
	struct odd o = { { 'x', (char)('a' + n), 0 } };
	struct bits k = { (unsigned)n & 7, (int)-n, -1000000007 * n };

	printf("objects %d %d %.2f %ld %ld %ld %.2f %.2f %.2f %ld %ld %s "
	       "%u %d %ld\n",
	    s.a, s.b, m.d, m.n, p.x, p.y, (double)t.x, (double)t.y, (double)t.z,
	    b.a[0], b.a[4], o.s, k.a, k.b, (long)k.c);
	q = objects(s, m, p, t, b, o, k);
	printf("objects = %ld %ld\n", q.x, q.y);

	printf("spill %ld %ld %ld %ld %ld %ld %ld %ld\n", n, p.x, p.y, q.x, q.y,
	    q.y, p.x, n + 9);
	m = spill(n, p, q, (struct pair){ q.y, p.x }, n + 9);
	printf("spill = %.2f %ld\n", m.d, m.n);

	struct tight g = { (char)n, (int)n * 1000 };
	union either e = { .f = (float)n / 8 };
	struct wide w = { (long double)n * 10 };
	vec4 v = { 1, (float)n, 3, 4 };
	struct vec vs = { v * 2 };
	printf("others %d %d %.3f %.1f %lx %lx %.1f %.1f\n", g.c, g.i,
	    (double)e.f, (double)w.x, (long)n * 5, -1L, (double)v[1],
	    (double)vs.v[3]);
	e = others(g, e, w, -((__int128)1 << 64) + n * 5, v, vs);
	printf("others = %.3f\n", (double)e.f);
}

static void
deep_said(long n)
{
	static outer_t second = { .name = "second", .color = GREEN };
	static const enum color colors[] = { RED, GREEN, BLUE };
	static char text[] = "hello";
	outer_t o = { n, { 't', { 1, 2, 3, (int)-n } }, &second, "first",
		colors[n % 3], (unsigned)n & 7, 300 },
		*where;

	printf("deep %ld %d %s %s %d %d %u %u %d %s\n", o.first, o.a.b[3],
	    o.name, o.next->name, o.next->color == GREEN, (int)o.color, o.low,
	    o.high, (int)colors[n % 3], text);
	outer_t *r = deep(&o, &where, colors[n % 3], text);
	printf("deep = %ld %s\n", r->first, r->next->name);
	text[0]++;
}

static void
results(long n)
{
	printf("rchar = %d\n", rchar(-n));
	printf("rbool = %d\n", rbool(n));
	printf("rushort = %d\n", rushort(n));
	enum color c = rcolor(n);
	printf("rcolor = %d %d\n", (int)c, c == BLUE);
	struct small s = rsmall((int)n);
	printf("rsmall = %d %d\n", s.a, s.b);
	struct odd o = rodd((char)('b' + n));
	printf("rodd = %s\n", o.s);
	struct three t = rthree((float)n / 2);
	printf(
	    "rthree = %.2f %.2f %.2f\n", (double)t.x, (double)t.y, (double)t.z);
	printf("rbig %ld %ld %ld\n", n, n * 7, n * 8);
	struct big b = rbig(n, (struct pair){ n * 7, n * 8 });
	printf("rbig = %ld %ld %ld\n", b.a[1], b.a[3], b.a[4]);
	printf("rlong = %.2f\n", (double)rlong((double)n / 4));
	float _Complex cf = rcf((float)n);
	printf("rcf = %.2f %.2f\n", (double)crealf(cf), (double)cimagf(cf));
	printf("rcd %.2f %.2f\n", (double)n, (double)-n);
	double _Complex cd = rcd((double)n - (double)n * I);
	printf("rcd = %.2f %.2f\n", creal(cd), cimag(cd));
	long double _Complex cl = rcl((double)n);
	printf("rcl = %.2f %.2f\n", (double)creall(cl), (double)cimagl(cl));
	__int128 i = rint128(n);
	printf("rint128 = %lx %lx\n", (long)i, (long)(i >> 64));
	vec4 v = rvec((float)n);
	printf("rvec = %.1f %.1f\n", (double)v[0], (double)v[3]);
	rvoid((int)n);
}

int
main(int argc, char **argv)
{
	trigger_init();
	if (argc > 1)
		trigger_wait();
	for (long n = 1; n <= 4; n++) {
		arguments(n);
		objects_said(n);
		deep_said(n);
		results(n);
	}
	if (argc > 1)
		trigger_wait();
	return 0;
}
