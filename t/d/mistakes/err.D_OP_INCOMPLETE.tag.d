/* A misspelt tag: the nearest that is defined. */
struct customer { int name; };
BEGIN { trace(((struct custmer *)0)->name); }
