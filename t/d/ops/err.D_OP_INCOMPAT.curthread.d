/* A thread is a pointer, though to nothing that a process may read. */
BEGIN
{
	x = curthread;
	x = pid;
}
