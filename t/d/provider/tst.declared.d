/*
 * @opts: -q -Z
 * args[] of probes that are not there yet are as the program declares them, if one
 * declaration fits, and it does not say that args[] are others than what is passed.
 */
provider nowhere {
	probe sold__out(int n, string what);
	probe other(int n);
	probe turned(int n, string what) : (string what, int n);
};

nowhere999999999:::sold-out { printf("%d %s", args[0], args[1]); }
nowhere*:::sold-out /args[1] == "tea"/ { @["a"] = sum(args[0]); }
nowhere:::other, nowhere999999998:::other { trace(args[0]); }
nowhere*:::turned { trace(args[0]); }
nowhere*:::o*,nowhere*:::s* { trace(args[0]); }
nowhere*:::*o* { trace(args[0]); }
nowheres*:::other { trace(args[0]); }

BEGIN
{
	exit(0);
}
