/* fds[] names the open files of the process in whose context a clause runs:
 * of the tracer in BEGIN, whose standard input is /dev/null.  A descriptor that
 * is not open is "<none>". */
/* @opts: -q */

BEGIN
{
	printf("%s %s %s\n", fds[0].fi_name, fds[0].fi_dirname,
	    fds[0].fi_pathname);
	printf("%d %d\n", fds[0].fi_offset, fds[0].fi_oflags & O_ACCMODE);
	i = 12345;
	printf("%s %s %s %s %s %d %d\n", fds[i].fi_name, fds[i].fi_dirname,
	    fds[i].fi_pathname, fds[i].fi_fs, fds[i].fi_mount,
	    fds[i].fi_offset, fds[i].fi_oflags);
	printf("%s\n", fds[-1].fi_name);
	exit(0);
}
