/* Expressions that hold more values than the machine has registers. */
/* @opts: -q */

BEGIN
{
	this->x = this->y = 123456789;
	a = b = c = d = e = f = g = h = i = j = 2;
	printf("%d ", a++ + (b++ + (c++ + (d++ + (e++ + (f++ + (g++ + (h++ +
	    (i++ + j++)))))))));
	printf("%d ", a++ + (b++ + (c++ + (d++ + (e++ + (f++ + (g++ + (h++ +
	    (i++ + j++)))))))));
	printf("%d %d\n", this->x, this->y);
	/* Both branches meet again while values wait. */
	printf("%d\n", a - (b - (c - (d - (e - (f - (g - (a == 4 ?
	    h - (i - (j - (a - b))) : 7))))))));
	printf("%d\n", a - (b - (c - (d - (e - (f - (g - (a != 4 ?
	    h - (i - (j - (a - b))) : 7))))))));
	/* Keys, strings and calls among them. */
	s[1, "x", 2, 3, 4, 5] = 9;
	printf("%d\n", a - (b - (c - (d - (e - (f - (g - (strlen(strjoin("ab",
	    substr("cdef", a - (b - (c - (d - 3)))))) - s[1, "x", a - (b -
	    (c - (d - (e - (f - 2))))), 3, 4, 5]))))))));
	exit(0);
}
