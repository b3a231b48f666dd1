/* A declaration declares something. */
int;
