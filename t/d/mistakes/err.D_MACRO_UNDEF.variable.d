/* A misspelt macro variable. */
BEGIN { trace($taget); }
