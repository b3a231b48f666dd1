/* @opts: -q */
/* The indices that D documents for x86-64. */
BEGIN
{
	printf("%d %d %d %d %d\n", R_SS, R_DS, R_ES, R_FS, R_GS);
	printf("%d %d\n", R_TRAPNO, R_R15);
	exit(0);
}
