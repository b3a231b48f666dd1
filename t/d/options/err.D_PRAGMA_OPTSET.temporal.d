/* No word for on or off. */
#pragma D option temporal=perhaps
BEGIN { exit(0); }
