/* A misspelt type where an expression may stand as well. */
BEGIN { trace(sizeof(uint33_t)); }
