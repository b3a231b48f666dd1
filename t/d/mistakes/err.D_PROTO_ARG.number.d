/* A number where a string is wanted. */
BEGIN { trace(strjoin("process ", pid)); }
