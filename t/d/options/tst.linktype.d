/* What -G writes; without -G it says nothing. */
/* @opts: -q */
#pragma D option linktype=dof
BEGIN { exit(0); }
