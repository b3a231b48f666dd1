/* A misspelt function. */
BEGIN { trace(copyinsrt(0)); }
