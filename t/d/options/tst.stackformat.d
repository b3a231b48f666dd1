/* In BEGIN there is no stack: its line is a dash, then the other keys. */
/* @opts: -q -x stackformat=folded */
BEGIN
{
	ustack();
	printf("[%k]\n", ustack());
	@a["two words", ustack(), 7] = count();
	@a["two words", ustack(), 7] = count();
	@b[ustack()] = sum(-5);
	@c[ustack(), 1] = lquantize(3, 0, 10, 5);
	@d["no stack"] = count();
	exit(0);
}
END
{
	printa(@a, @a);
	printa("%s|%k|%d|%@d\n", @a);
}
