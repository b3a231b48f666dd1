/* A misspelt constant. */
BEGIN { trace(ENOETN); }
