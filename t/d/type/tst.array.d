/* Arrays, of arrays, of structs, in structs; their indices can be computed. */
/* @opts: -q */

int a[4];
short m[2][3];

struct row {
	char name[4];
	int v[2];
};

struct row rows[3];

BEGIN
{
	a[0] = 1;
	a[3] = 4;
	i = 3;
	a[i - 1] = a[i] * 10;
	printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
	m[1][2] = 12;
}

BEGIN
{
	m[0][i] = 1;
}

ERROR
{
	printf("fault %d, index %d\n", (int)arg4, (int)arg5);
}

BEGIN
{
	m[i - 2][0] = -7;
	printf("%d %d %d\n", m[1][0], m[1][1], m[1][2]);
	rows[i - 1].v[1] = 21;
	rows[2].name[0] = 'r';
	printf("%d %s %d\n", rows[2].v[1], stringof(rows[2].name), rows[1].v[1]);
	printf("%d %d %d %d\n", (int)sizeof (a), (int)sizeof (m),
	    (int)sizeof (m[0]), (int)sizeof (rows));
	exit(0);
}
