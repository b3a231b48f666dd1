/* Void is alone or not at all. */
int (*f)(int, void);
