/* Declared as in C. */
BEGIN { int a = 3; }
