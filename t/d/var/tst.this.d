/* A clause-local variable lives from clause to clause of one firing. */
/* @opts: -q */

BEGIN
{
	this->a = 12;
	this->s = "local";
}

BEGIN
{
	printf("%d %s\n", this->a, this->s);
	exit(0);
}
