/* A misspelt built-in variable: the nearest is named. */
BEGIN { trace(execnam); }
