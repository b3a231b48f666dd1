/* A thread-local variable that nobody assigns. */

BEGIN
{
	trace(self->nosuch);
}
