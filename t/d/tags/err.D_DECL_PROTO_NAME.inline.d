/* A parameter of an inline has a name. */
inline int n[int] = 1;
