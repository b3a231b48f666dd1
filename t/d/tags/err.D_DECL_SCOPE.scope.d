/* A declaration is the program's own. */
int a`b;
