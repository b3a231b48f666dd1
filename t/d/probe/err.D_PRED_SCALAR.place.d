/* What is wrong with the whole predicate is said of the clause's end. */
string s;

BEGIN
/s/
{
	exit(0);
}
