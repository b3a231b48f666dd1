/* Every way to name a probe. */
/* @opts: -q */

dtrace:::BEGIN { printf("1"); }
:::BEGIN { printf("2"); }
::BEGIN { printf("3"); }
:BEGIN { printf("4"); }
BEGIN { printf("5"); }
dtrace:::BEG* { printf("6"); }
d?race:::[B]EGIN { printf("7\n"); exit(0); }
