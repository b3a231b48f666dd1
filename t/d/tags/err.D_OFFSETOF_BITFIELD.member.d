/* A bit-field has no offset in bytes. */
struct pair {
	int x;
	int bits : 3;
};

BEGIN
{
	trace(offsetof(struct pair, bits));
}
