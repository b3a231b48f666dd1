/* A variable has a size. */
struct nowhere x;
