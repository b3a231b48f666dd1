/* Division by zero of unsigned values. */
/* @opts: -q */

uint64_t zero;

BEGIN
{
	trace(1ULL / zero);
}

BEGIN
{
	trace(1ULL % zero);
}

BEGIN
{
	exit(0);
}
