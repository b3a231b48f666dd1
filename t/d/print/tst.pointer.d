/*
 * print() of a pointer: the address and what is there, by its type.  Members
 * that are 0 are left out.
 */
/* @opts: -q */

enum color { RED, GREEN, BLUE };

struct point {
	int x;
	int y;
};

struct thing {
	int8_t small;
	uint64_t large;
	char name[6];
	struct point at;
	struct point corners[2];
	union {
		uint8_t byte;
		uint32_t word;
	} u;
	enum color c;
	void *p;
	short none;
	bool yes;
};

BEGIN
{
	t = (struct thing *)alloca(sizeof (struct thing));
	t->small = -5;
	t->large = -1;
	t->name[0] = 'a';
	t->name[1] = 7;
	t->name[3] = 'z';
	t->at.y = 3;
	t->corners[1].x = 4;
	t->u.word = 0x101;
	t->c = BLUE;
	t->p = (void *)0x1234;
	t->yes = 1;
	print(t);
	print(&t->at);
	print(&t->large);
	print(*t);
	print("text");
	exit(0);
}
