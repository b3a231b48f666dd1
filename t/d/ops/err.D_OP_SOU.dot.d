struct pair {
	int first;
} *p;

BEGIN
{
	trace(p.first);
}
