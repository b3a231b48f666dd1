/* An address where a string is wanted: what reads one. */
BEGIN { trace(strlen(arg0)); }
