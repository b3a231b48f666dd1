/* The bytes that each line of Python has C ask of malloc, while orders are handled. */
python$target:::function-entry
/copyinstr(arg1) == "handle"/
{
	self->inside = 1;
}

pid$target:libc:malloc:entry
/self->inside/
{
	@bytes[jstack(40)] = sum(arg0);
}

python$target:::function-return
/copyinstr(arg1) == "handle"/
{
	self->inside = 0;
}
