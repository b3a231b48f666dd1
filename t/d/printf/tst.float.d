/* Floating values of memory, in each of C's forms. */
/* @opts: -q */

double *d;
float *f;

BEGIN
{
	d = alloca(sizeof (double));
	*(uint64_t *)d = 0x3ff8000000000000;	/* 1.5 */
	printf("%f %e %E %g %G\n", *d, *d, *d, *d, *d);
	*(uint64_t *)d = 0xc2d6bcc41e900000;	/* -1e14 */
	printf("%.1f %.2e %.1E %g %G\n", *d, *d, *d, *d, *d);
	f = alloca(sizeof (float));
	*(uint32_t *)f = 0x40490fdb;		/* 3.1415927 */
	printf("%f %.3f [%8.2f] [%-8.2f] %+g\n", *f, *f, *f, *f, *f);
	exit(0);
}
