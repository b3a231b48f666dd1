/* Expressions without an effect are statements; so is nothing. */
/* @opts: -q */

BEGIN
{
	1;
	arg0;
	"text";
	x = 2, x;
	(void)x;
	sizeof (x);
	;;
	printf("%d\n", x);
	exit(0);
}
