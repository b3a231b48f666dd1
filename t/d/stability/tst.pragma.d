/* Attributes of a program's own: said after or before the declaration. */
/* @opts: -q -v */
#pragma D attributes Evolving/Stable/ISA a
int a;
inline int b = 1;
#pragma D attributes Stable/Private/Common b
dtrace:::BEGIN { a = b; exit(0); }
