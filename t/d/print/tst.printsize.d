/* What is beyond `printsize' is dots; it can be set while tracing. */
/* @opts: -q -x printsize=4 */

struct three {
	int a;
	struct {
		int b;
	} in;
	int c;
};

BEGIN
{
	t = (struct three *)alloca(sizeof (struct three));
	t->a = 1;
	t->in.b = 2;
	t->c = 3;
	print(t);
	setopt("printsize", "8");
	print(t);
	setopt("printsize", "12");
	print(t);
	setopt("printsize", "2");
	print(t);
	print(&t->a);
	exit(0);
}
