/* An address may be that of a text. */
syscall::openat:entry
{
	printf("%s\n", arg1);
}
