/* No number. */
#pragma D option disasm=4x
BEGIN { exit(0); }
