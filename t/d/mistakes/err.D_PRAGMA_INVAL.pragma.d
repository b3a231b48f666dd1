#pragma D optoin quiet
/* A misspelt pragma. */
BEGIN { exit(0); }
