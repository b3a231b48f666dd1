/* An index that is known only now is looked at in an array of the program. */
/* @opts: -q */

int a[5];
struct many {
	int before[2];
	int row[2][3];
};
this struct many m;

BEGIN
{
	i = 4;
	a[i] = 7;
	printf("%d ", a[i]);
	this->m.row[i - 3][2] = 8;
	printf("%d\n", this->m.row[i - 3][i - 2]);
}

BEGIN
{
	trace(a[i + 1]);
}

BEGIN
{
	a[-i] = 1;
}

BEGIN
{
	this->m.row[1][i] = 1;
}

BEGIN
{
	exit(0);
}
