/* One name in each class of variables; arrays and structs in them. */
/* @opts: -q */

struct pair {
	int x;
	int y;
};

int v;
self int v;
this int v;
this int list[4];
this struct pair p;
self struct pair p;
struct pair p;

BEGIN
{
	v = 1;
	self->v = 2;
	this->v = 3;
	@v = sum(4);
	this->list[3] = 5;
	this->p.x = 6;
	this->p.y = 7;
	self->p = this->p;
	p = self->p;
	this->p.x = 0;
	self->p.y++;
	p.y = 9;
	printf("%d %d %d %d\n", v, self->v, this->v, this->list[3]);
	printf("%d %d, %d %d, %d %d\n", this->p.x, this->p.y, self->p.x,
	    self->p.y, p.x, p.y);
	printa("%@d\n", @v);
}

tick-1ms
{
	printf("%d %d\n", v, p.x);
	exit(0);
}
