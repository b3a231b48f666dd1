/*
 * Declarations of static probes: twice the same is one, a translator makes one
 * type of another.
 *
 * @opts: -q
 */
struct in { int i; };
struct out { int o; };
translator struct out < struct in *p > { o = p->i; };

provider app {
	probe none();
	probe nothing(void);
	probe some(int a, char *b) : (char *b, int a, long a);
	probe entry(struct in *a, void *p) : (struct out *a, char *p);
	probe text(string s) : (char *s);
};

provider app {
	probe none();
	probe nothing(void);
	probe some(int a, char *b) : (char *b, int a, long a);
	probe entry(struct in *a, void *p) : (struct out *a, char *p);
	probe text(string s) : (char *s);
};

BEGIN
{
	printf("declared\n");
	exit(0);
}
