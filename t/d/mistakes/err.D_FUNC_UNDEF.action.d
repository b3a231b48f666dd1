/* A misspelt action. */
BEGIN { prntf("hello\n"); }
