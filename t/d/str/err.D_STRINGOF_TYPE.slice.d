/* The elements of this slice are no characters. */
struct goslice { int *array; int64_t len; int64_t cap; };
struct goslice v;
BEGIN { trace(stringof(v)); exit(0); }
