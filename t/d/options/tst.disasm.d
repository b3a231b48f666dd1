/* Accepted. */
/* @opts: -q */
#pragma D option disasm=4
BEGIN { exit(0); }
