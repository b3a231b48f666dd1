/* A union's members share their bytes, the lowest first. */
/* @opts: -q */

union word {
	uint64_t all;
	uint8_t byte[8];
	struct {
		uint16_t low;
		uint16_t high;
	} half;
	int32_t number;
} w;

BEGIN
{
	w.all = 0x8877665544332211;
	printf("%x %x %x %x\n", w.byte[0], w.byte[7], w.half.low, w.half.high);
	w.number = -1;
	printf("%x %d\n", w.all, (int)sizeof (union word));
	exit(0);
}
