/* A member that the translator says nothing of: which it has. */
struct to { int number, other; };
struct from { int n; };
translator struct to < struct from *f > { number = f->n; };
BEGIN { trace(xlate <struct to> ((struct from *)0).other); }
