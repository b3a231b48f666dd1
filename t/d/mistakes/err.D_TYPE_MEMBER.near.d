/* A misspelt member: the nearest. */
struct customer { int number; string name; };
BEGIN { trace(((struct customer *)0)->nunber); }
