/* A word of the language is a name behind a dot and an arrow. */
struct s { int a; } *p;
BEGIN { trace(p->self); }
