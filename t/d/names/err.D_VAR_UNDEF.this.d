/* A clause-local variable that nobody assigns. */

BEGIN
{
	trace(this->nosuch);
}
