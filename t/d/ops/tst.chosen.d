/* What a constant chooses is all there is: an action, an aggregation, a value,
 * whose type depends on the other only where that is a number, too.  The other
 * need not be known, nor allowed. */
/* @opts: -q */
/* @args: 1 0 */

inline int NAMES = 1;
inline int ZONES = 0;
inline int BOTH = NAMES && !ZONES;

BEGIN
{
	NAMES ? printf("names\n") : 1;
	ZONES ? printf("%s %d\n", zonename, this->nowhere) : 1;
	ZONES ? printf("zones\n") : NAMES ? printf("else names\n") : panic();
	BOTH ? @by[1] = sum(3) : 1;
	ZONES ? @by["another", "key"] = count() : 1;
	$1 ? printf("%d\n", 1 ? 5 : "five") : 1;
	$2 ? exit(1) : 1;
	printf("%d %d\n", sizeof (1 ? (char)1 : 2), ZONES ? 6 : 7);
	/* A value decides when it comes. */
	printf("%d\n", pid > 0 ? 8 : 9);
	exit(0);
}

END
{
	NAMES ? printa("%d %@d\n", @by) : 1;
	ZONES ? printa("%d %@d\n", @nobody) : 1;
}
