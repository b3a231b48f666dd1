/* A misspelt name of a probe. */
BEGN { exit(0); }
