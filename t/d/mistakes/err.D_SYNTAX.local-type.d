/* Declared as in C. */
BEGIN { uint64_t a = 3; }
