/* Each of the tracer's ids as a number and as text; no process, no target. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d\n", strtoll($$pid) == $pid, strtoll($$ppid) == $ppid,
	    strtoll($$pgid) == $pgid, strtoll($$sid) == $sid);
	printf("%d %d %d %d\n", strtoll($$uid) == $uid, strtoll($$euid) == $euid,
	    strtoll($$gid) == $gid, strtoll($$egid) == $egid);
	printf("%d %s %d\n", $target, $$target, $pid == pid);
	exit(0);
}
