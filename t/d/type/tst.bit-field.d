/* Bit-fields keep their neighbours, cut what is too wide, and have signs. */
/* @opts: -q */

struct bits {
	unsigned int a : 3;
	unsigned int b : 5;
	int c : 4;
	unsigned int : 4;
	unsigned int d : 16;
	uint64_t e : 40;
	unsigned int : 0;
	char f;
} *p;

BEGIN
{
	p = alloca(sizeof (struct bits));
	p->a = 7;
	p->b = 33;
	p->c = 15;
	p->d = 0xbeef;
	p->e = 0x123456789abcdef;
	printf("%d %d %d %x %x\n", p->a, p->b, p->c, p->d, p->e);
	p->b = 0;
	p->c++;
	p->a ^= 2;
	printf("%d %d %d %x\n", p->a, p->b, p->c, p->d);
	printf("%x\n", *(uint32_t *)p);
	printf("%d %d\n", (int)sizeof (struct bits),
	    (int)offsetof(struct bits, f));
	exit(0);
}
