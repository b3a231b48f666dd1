/* Fewer blanks than none. */
#pragma D option stackindent=-1
BEGIN { exit(0); }
