/* A predicate may declare what its statements use ... */
BEGIN
/seen++ == 0/
{
	trace(seen);
}

/* ... and use what they declare. */
BEGIN
/later == 0/
{
	later = 3;
	trace(later);
	exit(0);
}
