/* Characters of a string can be copied; memory that ends ends a string. */
/* @opts: -q */

struct part {
	char name[8];
	char *at;
} *q;

BEGIN
{
	q = alloca(sizeof (struct part));
	q->at = q->name;
	bcopy("abcdefg", q->name, 8);
	bcopy("XY", q->at, 2);
	bcopy(probename, &q->name[3], 2);
	printf("%s\n", stringof(q->name));
	this->p = (char *)alloca(8);
	bcopy("01234567", this->p, 8);
	printf("%s\n", (string)this->p);
	exit(0);
}
