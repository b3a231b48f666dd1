/* Names for types: of numbers, pointers, structs, arrays; and type words in any
 * order. */
/* @opts: -q */

typedef unsigned short port_t, *port_p;
typedef struct node {
	struct node *next;
	port_t port;
} node_t;
typedef int triple_t[3];

port_t port;
node_t *n;
triple_t t;
long unsigned int word;
const volatile char letter;
int long long wide;

BEGIN
{
	port = 65537;
	n = alloca(2 * sizeof (node_t));
	n->port = 80;
	n->next = n + 1;
	n->next->port = port + 80;
	t[2] = 3;
	word = -1;
	letter = 300;
	wide = -1;
	printf("%d %d %d %d\n", port, n->port, n->next->port, t[2]);
	printf("%d %d %d\n", word > 0, letter, wide < 0);
	printf("%d %d %d %d\n", (int)sizeof (node_t), (int)sizeof (port_p),
	    (int)sizeof (triple_t), (int)sizeof (*(port_p)n));
	exit(0);
}
