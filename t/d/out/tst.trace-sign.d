/* Integers are traced with the sign of their type, in columns of its width. */
BEGIN
{
	trace((signed char)-1);
	trace((unsigned char)-1);
	trace((short)-1);
	trace((unsigned short)-1);
	trace(-1);
	trace((unsigned int)-1);
	trace((int64_t)-1);
	trace((uint64_t)-1);
	exit(0);
}
