/* A translator for a member that its type does not have. */
struct to { int number; };
struct from { int n; };
translator struct to < struct from *f > { nunber = f->n; };
BEGIN { exit(0); }
