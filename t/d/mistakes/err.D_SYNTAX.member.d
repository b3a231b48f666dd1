/* A misspelt type of a member. */
struct pair { uint33_t x, y; };
BEGIN { exit(0); }
