/* A brace is missing before a clause. */
struct pair {
	int a;
BEGIN { exit(0); }
