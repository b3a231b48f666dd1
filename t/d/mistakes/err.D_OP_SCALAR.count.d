/* As bpftrace and awk have it. */
BEGIN
{
	@[execname]++;
}
