/* Offsets of members, aligned as C aligns them; of unions they are 0. */
/* @opts: -q */

struct inner {
	char c;
	double d;
};

struct s {
	char a;
	short b;
	char c;
	int d;
	char e[3];
	void *f;
	struct inner g;
};

union u {
	char a;
	long b;
};

BEGIN
{
	printf("%d %d %d %d %d %d %d\n", (int)offsetof(struct s, a),
	    (int)offsetof(struct s, b), (int)offsetof(struct s, c),
	    (int)offsetof(struct s, d), (int)offsetof(struct s, e),
	    (int)offsetof(struct s, f), (int)offsetof(struct s, g));
	printf("%d %d %d\n", (int)offsetof(union u, b),
	    (int)sizeof (struct s), (int)sizeof (union u));
	exit(0);
}
