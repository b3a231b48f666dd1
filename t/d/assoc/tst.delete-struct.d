/* Zero takes a struct away, too, which the next needs the room of. */
/* @opts: -q -x dynvarsize=40 */

this struct pair {
	int x;
	int y;
} p;

BEGIN
{
	this->p.x = 1;
	this->p.y = 2;
	a[1] = this->p;
	this->p.x = 3;
	a[2] = this->p;
	a[1] = 0;
	this->p.x = 5;
	a[3] = this->p;
	printf("%d %d %d %d\n", a[2].x, a[2].y, a[3].x, a[3].y);
	exit(0);
}
