/*
 * In BEGIN the thread is the tracer's own: what is known of it before any
 * process is traced.
 * @opts: -q
 */

BEGIN
{
	printf("%d %d %d %d\n", pid == $pid, ppid == $ppid, uid == $uid,
	    gid == $gid);
	printf("%d %d\n", tid == pid, errno);
	printf("%s\n", execname);
	printf("%d %d\n", cwd == "", root == "/");
	printf("%d\n", execargs == "");
	printf("%d\n", cpu >= 0);
	exit(0);
}
