/* An array of a named type is as long as so many of it. */
#pragma D option quiet

typedef short half_t;
typedef half_t halves_t[3];
struct rows {
	half_t at[3];
	halves_t more;
	char last;
};

BEGIN
{
	printf("%d %d %d\n", sizeof(halves_t), sizeof(struct rows),
	    offsetof(struct rows, last));
	exit(0);
}
