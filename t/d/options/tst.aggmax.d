/* Room for no key at all: each is a drop, and said so. */
/* @opts: -q -x droptags -x aggmax=1g */
#pragma D option aggmax=1
BEGIN { @[1] = count(); @[2] = count(); @b[3] = sum(7); exit(0); }
END { @s = sum(1); printa("sum %@d\n", @s); }
