/* Variables hold strings of 64 KiB and more, each byte of them. */
/* @opts: -q -x strsize=200k -x dynvarsize=4m */

string declared;
self string own;

BEGIN
{
	x = "0123456789abcdef";
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	x = strjoin(x, x);
	printf("%d %d\n", strlen(x), sizeof (x));
	declared = strjoin(x, "gh");
	this->y = declared;
	self->own = this->y;
	a["key"] = self->own;
	printf("%d %d %d\n", strlen(this->y), strlen(self->own),
	    strlen(a["key"]));
	printf("%s %s\n", this->y + 65530, substr(a["key"], 65534));
	printf("%d %d\n", x < declared, declared == self->own);
	this->y = strjoin(declared, strjoin(declared, declared));
	printf("%d %s\n", strlen(this->y), this->y + 196604);
	exit(0);
}
