/*
 * A string compared with NULL: is there one at all?  An empty one is.
 *
 * @opts: -q
 */
string unset;

BEGIN
{
	this->none = strtok("", ",");
	printf("%d %d %d\n", this->none == NULL, this->none != NULL,
	    NULL == this->none);
	self->some = "";
	printf("%d %d\n", self->some == NULL, self->some != NULL);
	printf("%d %d\n", unset == 0, strchr("abc", 'b') != NULL);
	exit(0);
}
