/* A misspelt type in a declaration, which reads like a probe. */
uint33_t x;
BEGIN { x = 1; }
