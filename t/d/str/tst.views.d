/*
 * stringof() and copyin() of structures that say where something is and how
 * long: Go's string and slices, Rust's &str.  Also of nothing, with any address,
 * of more than there is room for, among the keys of an array, and behind a
 * pointer.
 *
 * @opts: -q -x strsize=16
 */

struct gostring { uint8_t *str; int64_t len; };
struct goslice { int *array; int64_t len; int64_t cap; };
struct ruststr { uint8_t *data_ptr; uint64_t length; };
struct holds { int n; struct gostring name; };

struct gostring s, e;
struct goslice v, b;
struct ruststr r;
struct holds h;
string names[string, int, string, int, string, int];

BEGIN
{
	this->t = (uint8_t *)alloca(64);
	bcopy("hello, world and all the rest", this->t, 30);
	s.str = this->t;
	s.len = 5;
	e.str = 0;
	e.len = 0;
	r.data_ptr = this->t + 7;
	r.length = 5;
	printf("%s|%s|%s|%d\n", stringof(s), stringof(e), stringof(r),
	    strlen(stringof(s)));
	s.len = 29;
	printf("%s\n", stringof(s));
	s.len = -1;
	printf("%s\n", stringof(s));
	e.str = (uint8_t *)1;
	printf("%s|\n", stringof(e));
	s.len = 2;
	this->h = (struct holds *)alloca(sizeof (struct holds));
	this->h->name.str = this->t;
	this->h->name.len = 4;
	printf("%s %s\n", stringof(this->h->name),
	    strjoin(stringof(s), stringof(r)));
	names[stringof(s), 1, stringof(r), 2, stringof(s), 3] = stringof(r);
	printf("%s\n", names["he", 1, "world", 2, "he", 3]);
	@[stringof(s), stringof(r)] = count();
	this->i = (int *)alloca(12);
	this->i[0] = 1;
	this->i[1] = 22;
	this->i[2] = 333;
	v.array = this->i;
	v.len = 3;
	this->c = (int *)copyin(v);
	printf("%d %d %d\n", this->c[0], this->c[1], this->c[2]);
	printf("%s\n", stringof(s) == "he" ? "yes" : "no");
	exit(0);
}
