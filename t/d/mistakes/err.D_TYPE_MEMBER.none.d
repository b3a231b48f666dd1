/* A member that is like none: which there are. */
struct customer { int number; string name; };
BEGIN { trace(((struct customer *)0)->address); }
