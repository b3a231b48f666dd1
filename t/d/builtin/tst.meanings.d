/* What numbers mean to system calls; those without a name, 0 and negative ones. */
/* @opts: -q */
BEGIN
{
	printf("%s %s %s %s\n", errno_name[ENOENT], errno_name[EAGAIN],
	    errno_name[0], errno_name[-1]);
	printf("%s %s %s %s %s\n", signal_name[SIGKILL], signal_name[SIGCHLD],
	    signal_name[32], signal_name[64], signal_name[65]);
	printf("%s %s %s %s\n", open_flags[O_RDONLY],
	    open_flags[O_RDWR | O_CREAT | O_EXCL], open_flags[O_SYNC],
	    open_flags[0x40000001]);
	/* Neither is there a call, nor a process whose memory could be read. */
	printf("[%s] [%s]\n", call_arguments, socket_address[1]);
	exit(0);
}
