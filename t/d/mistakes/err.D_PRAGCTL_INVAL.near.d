#pragam D option quiet
/* A misspelt directive. */
BEGIN { exit(0); }
