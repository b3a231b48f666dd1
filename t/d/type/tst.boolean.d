/* boolean_t is the enumeration of other systems, so a size and two names. */
/* @opts: -q */

BEGIN
{
	self->full = (boolean_t)1;
	this->none = (boolean_t)0;
	printf("%d %d %d %d\n", sizeof (boolean_t), self->full == B_TRUE,
	    this->none == B_TRUE, this->none == B_FALSE);
	exit(0);
}
