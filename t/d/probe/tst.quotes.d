/* A field in quotes: what it holds separates nothing, and may be a glob. */
/* @opts: -q -Z */
/* @args: BEGIN */

dtrace:::"BEGIN" { printf("1"); }
"dtrace":"":"":"B*N" { printf("2"); }
dtrace:::"$1" { printf("3"); }
dtrace:::B"EGI"N { printf("4"); }
dtrace:::"B\EGIN" { printf("5"); }
nobody::"a:b, c{d}/e/ \" ; \$target":x, dtrace:::BEGIN { printf("6"); }
nobody::x::y:z, dtrace:::BEGIN { printf("7"); }
nobody:m:a::f(int, char *):z, dtrace:::BEGIN { printf("8"); }
nobody:m:main.(*T).f:z, dtrace:::BEGIN { printf("9\n"); exit(0); }
dtrace:::"*" /probename == "END"/ { printf("10\n"); }
int(*unused)(int);
int *pointer;
