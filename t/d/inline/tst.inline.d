/* An inline is its expression each time it is used; it may take arguments. */
/* @opts: -q */
/* @args: 6 */

int counted;

inline int SIX = 6;
inline string NAME = "inline";
inline uint8_t LOW = 0x1ff;
inline int SQUARE[int n] = n * n;
inline long ADD[int a, long b] = a + b;
inline int COUNTED = counted;
inline int FROM = $1 + SIX;
inline char *NOWHERE = (char *)0x10;

BEGIN
{
	printf("%d %s %d\n", SIX, NAME, LOW);
	printf("%d %d %d\n", SQUARE[SIX], ADD[SQUARE[2], 1 << 40], FROM);
	counted = 1;
	printf("%d ", COUNTED);
	counted++;
	printf("%d\n", COUNTED);
	printf("%p %d\n", NOWHERE, (int)sizeof (LOW));
	x = 3;
	printf("%d\n", SQUARE[x + 1]);
	exit(0);
}
