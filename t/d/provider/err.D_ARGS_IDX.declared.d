/*
 * @opts: -Z
 */
provider nowhere {
	probe sold__out(int n, string what);
};

nowhere*:::sold-out { trace(args[2]); }
