/*
 * Under -Z a clause is left out that takes args[] of a probe which is not there:
 * what it would aggregate stays empty.  The rest of the program runs.
 */
/* @opts: -q -Z */

BEGIN
{
	trace("begin\n");
}

nowhere:::request-done
/args[1]->code >= 400/
{
	@[args[0]->remote, args[1]->code] = count();
	this->code = args[1]->code;
	@sizes["sent"] = quantize(args[1]->size);
}

nowhere:::request-start,
BEGIN
/probename == "BEGIN"/
{
	printf("%s\n", probename);
	@kept[probename] = count();
	@others = sum(arg0);
}

nowhere:::entry
{
	trace(this->code);
}

END
{
	printa("%@8d %-16s %-4d\n", @);
	printa(@sizes);
	normalize(@sizes, 2);
	trunc(@sizes, 1);
	clear(@sizes);
	printa("%s %@d\n", @kept);
	printf("end\n");
}

BEGIN
{
	exit(0);
}
