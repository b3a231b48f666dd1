/* Bound to a version that is younger than the one asked for. */
#pragma D option version=1.3
inline int x = 4;
#pragma D binding "1.4" x
BEGIN { trace(x); }
