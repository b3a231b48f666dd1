/* A thread-local string. */
/* @opts: -q */

BEGIN
{
	self->s = "mine";
}

BEGIN
/self->s == "mine"/
{
	printf("%s\n", self->s);
	self->s = 0;
	exit(0);
}
