/* What the operands are, in the program's words. */
struct customer { int number; string name; };
BEGIN { c = (struct customer *)0; n = c + execname; }
