/* A misspelt type in a cast: the error comes behind it. */
BEGIN { trace((uint33_t)0); }
