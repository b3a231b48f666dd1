/* Every type that is built in, by its size. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d %d\n", (int)sizeof (char), (int)sizeof (short),
	    (int)sizeof (int), (int)sizeof (long), (int)sizeof (long long));
	printf("%d %d %d %d\n", (int)sizeof (unsigned char),
	    (int)sizeof (unsigned short), (int)sizeof (unsigned),
	    (int)sizeof (unsigned long));
	printf("%d %d %d %d\n", (int)sizeof (int8_t), (int)sizeof (int16_t),
	    (int)sizeof (int32_t), (int)sizeof (int64_t));
	printf("%d %d %d %d\n", (int)sizeof (uint8_t), (int)sizeof (uint16_t),
	    (int)sizeof (uint32_t), (int)sizeof (uint64_t));
	printf("%d %d %d %d\n", (int)sizeof (uchar_t), (int)sizeof (ushort_t),
	    (int)sizeof (uint_t), (int)sizeof (ulong_t));
	printf("%d %d %d %d %d\n", (int)sizeof (size_t), (int)sizeof (ssize_t),
	    (int)sizeof (ptrdiff_t), (int)sizeof (uintptr_t),
	    (int)sizeof (intptr_t));
	printf("%d %d %d\n", (int)sizeof (pid_t), (int)sizeof (id_t),
	    (int)sizeof (u_longlong_t));
	printf("%d %d %d %d\n", (int)sizeof (_Bool), (int)sizeof (float),
	    (int)sizeof (double), (int)sizeof (long double));
	printf("%d %d %d %d\n", (int)sizeof (string), (int)sizeof (void *),
	    (int)sizeof ("abc"), (int)sizeof 'a');
	exit(0);
}
