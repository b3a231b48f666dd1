/* The form is decided at compile time. */
int i;

BEGIN
{
	trace(inet_ntoa6((struct in6_addr *)alloca(16), i));
}
