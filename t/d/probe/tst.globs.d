/* Stars, question marks, sets, ranges, their complements, escapes, lists. */
/* @opts: -q -Z */

dtrace:::B* { printf("1"); }
d*e:::BEGI? { printf("2"); }
dtrace:::[A-C]EGIN { printf("3"); }
dtrace:::[!A-C]EGIN { printf("never"); }
dtrace:::[!E]EGIN { printf("4"); }
dtrace:::\BEGIN { printf("5"); }
dtrace:::\*EGIN { printf("never"); }
*:::BEG*N, nobody:::x { printf("6"); }
dtrace:*:*:BEGIN { printf("7"); }
1 { printf("8\n"); exit(0); }
dtrace:::?ND { printf("9\n"); }
