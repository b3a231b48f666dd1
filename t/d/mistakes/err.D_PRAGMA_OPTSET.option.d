#pragma D option quite
/* A misspelt option. */
BEGIN { exit(0); }
