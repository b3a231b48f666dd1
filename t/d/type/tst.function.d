/* Types of functions: pointers to them, by name and in full. */
/* @opts: -q */

int (*f)(int, char *);
typedef int fn_t(long, size_t);
fn_t *g;
struct ops {
	void (*open)(void);
	int (*read)(char *, size_t, ...);
} *o;

BEGIN
{
	f = (int (*)(int, char *))0x10;
	o = alloca(sizeof (struct ops));
	o->read = (int (*)(char *, size_t, ...))0x20;
	printf("%d %d %d %x %x\n", (int)sizeof (f), (int)sizeof (g),
	    (int)sizeof (struct ops), (uintptr_t)f, (uintptr_t)o->read);
	printf("%d %d\n", g == NULL, o->open == NULL);
	exit(0);
}
