/* A structure where a string is wanted: what is in it. */
struct customer { int number; string name; };
struct customer c;
BEGIN { trace(strlen(c)); }
