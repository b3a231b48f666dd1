/* A misspelt aggregating function. */
BEGIN { @ = quantise(1); }
