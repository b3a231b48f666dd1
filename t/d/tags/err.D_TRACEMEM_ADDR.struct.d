/* Memory is at an address. */
struct pair {
	int x;
} v;

BEGIN
{
	tracemem(v, 4);
}
