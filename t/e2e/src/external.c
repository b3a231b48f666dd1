/*
 * external [wait]: variables and types that a D program names.  Before each
 * call of stage() it says what is to be seen there.
 */
#include <stdint.h>

#include "trigger.h"

const char *table_name(int i);

enum color { RED, GREEN = 5, BLUE = -1 };

struct opaque;

struct conn {
	int fd;
	char name[12];
	struct conn *next;
	enum color color;
	unsigned low : 3, high : 9;
	int sign : 5;
	long long wide : 40;
	union {
		int i;
		unsigned char bytes[4];
	} u;
	struct {
		short x, y;
	};
	int grid[2][3];
	struct opaque *secret;
};
typedef struct conn conn_t;

struct conn second = { .fd = 2, .name = "second" };
conn_t conns[3];
conn_t *config = &conns[1];
volatile int counter = 40;
static short small = -3;
unsigned char byte = 250;
uint64_t large = 0xfedcba9876543210;
const char *message = "hello";
char text[16] = "characters";
short both = 5; /* the library has another one */
__thread int own = 3;
static int gone = 5;

NOINLINE int
stage(conn_t *c, int n)
{
	__asm__ volatile("" ::: "memory");
	return c->fd + n + gone + own;
}

static void
expect(const conn_t *c, int n)
{
	printf("n %d counter %d small %d byte %u large %lx\n", n, counter,
	    small, byte, (unsigned long)large);
	printf("message %s text %s both %d name %s\n", message, text, both,
	    table_name(n));
	printf("fd %d name %s next %s color %d %d low %u high %u sign %d\n",
	    c->fd, c->name, c->next->name, (int)c->color, c->color == GREEN,
	    c->low, c->high, c->sign);
	printf("wide %lld u %d %u x %d y %d grid %d %d\n", (long long)c->wide,
	    c->u.i, c->u.bytes[1], c->x, c->y, c->grid[0][2], c->grid[1][1]);
	printf("at %lx %lx\n", (unsigned long)(uintptr_t)&counter,
	    (unsigned long)(uintptr_t)&conns[1].next);
}

int
main(int argc, char **argv)
{
	static const enum color colors[] = { RED, GREEN, BLUE };
	int sum = 0;

	trigger_init();
	if (argc > 1)
		trigger_wait();
	for (int i = 0; i < 3; i++) {
		conn_t *c = config = &conns[i];
		*c = (conn_t){ i + 10, "first", &second, colors[i],
			(unsigned)i + 5, 300u + (unsigned)i, -i,
			-5000000000 - i, { 0x01020304 * (i + 1) },
			{ (short)-i, 7 }, { { 1, 2, 3 + i }, { 4, -5 - i, 6 } },
			NULL };
		counter++;
		small--;
		byte++;
		large += 1;
		text[0]++;
		both--;
		expect(c, i);
		sum += stage(c, i);
	}
	if (argc > 1)
		trigger_wait();
	return sum == 0;
}
