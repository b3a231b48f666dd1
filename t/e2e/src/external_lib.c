/* The library of external.c: its variables are read by name. */
struct entry {
	int key;
	const char *name;
};

struct entry table[4] = { { 1, "one" }, { 2, "two" }, { 3, "three" },
	{ 4, "four" } };
static struct entry *volatile current = &table[2];

/* The types of the program's own variable of this name. */
long both = 77;

const char *
table_name(int i)
{
	current = &table[i & 3];
	return current->name;
}
