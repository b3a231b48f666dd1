/* No word for on or off. */
#pragma D option noresolve=perhaps
BEGIN { exit(0); }
