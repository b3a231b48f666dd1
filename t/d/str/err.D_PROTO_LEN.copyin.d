/* One argument must be a structure with an address and a length. */
struct other { int *array; int len; };
struct other v;
BEGIN { trace(copyin(v)); exit(0); }
