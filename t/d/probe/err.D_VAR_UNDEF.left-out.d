/* A clause that can fire is not left out with one that cannot. */
/* @opts: -Z */

nowhere:::entry
{
	this->code = args[0]->code;
}

BEGIN
{
	trace(this->code);
}
