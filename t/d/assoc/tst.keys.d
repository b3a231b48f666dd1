/* Declared with the types of their keys; structs and eight keys are possible.*/
/* @opts: -q */

struct pair {
	int x;
	int y;
} k;

int named[string, int];
string texts[char];
self int64_t mine[int, string];
struct pair of[int];

BEGIN
{
	named["a", 1] = 2;
	texts['x'] = "ex";
	self->mine[1, "m"] = 1 << 40;
	k.x = 1;
	k.y = 2;
	by[k] = 3;
	k.y = 4;
	by[k] = 5;
	of[7] = k;
	eight[1, 2, 3, 4, 5, 6, 7, "8"] = 8;
	printf("%d %s %d\n", named["a", 1], texts['x'], self->mine[1, "m"]);
	printf("%d ", by[k]);
	k.y = 2;
	printf("%d %d %d\n", by[k], of[7].x, of[7].y);
	printf("%d %d\n", eight[1, 2, 3, 4, 5, 6, 7, "8"],
	    eight[1, 2, 3, 4, 5, 6, 7, "9"]);
	named["a", 1]++;
	printf("%d %d\n", named["a", 1]++, ++named["a", 1]);
	texts['x'] = 0;
	printf("%d\n", texts['x'] == NULL);
	exit(0);
}
