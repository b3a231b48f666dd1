/* A function is no value. */
int (*f)(int);

BEGIN
{
	trace(*f);
}
