/* Which register is known when the program is compiled. */
BEGIN
{
	n = 4;
	trace(uregs[n]);
}
