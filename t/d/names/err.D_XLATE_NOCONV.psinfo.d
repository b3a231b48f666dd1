/* A member that no process can be asked for. */

BEGIN
{
	trace(curpsinfo->pr_rssize);
}
