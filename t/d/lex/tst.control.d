/* Lines for the compiler: positions, identities, and those of others. */
/* @opts: -q */
#ident "any words"
#pragma ident "these, too"
#pragma once
#line 100 "other.d"
#pragma line 200 "another.d"
# 300 "third.d"

BEGIN
{
	x = 1; \
	printf("%d\n", \
	    x);
	exit(0);
}
