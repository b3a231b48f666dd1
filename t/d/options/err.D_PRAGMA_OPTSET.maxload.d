/* More than all. */
#pragma D option maxload=101%
BEGIN { exit(0); }
