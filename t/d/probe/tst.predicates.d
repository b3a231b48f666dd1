/* A predicate may be a number, a pointer or anything that is not zero; with a
 * comment behind; and an error in it is action 0. */
/* @opts: -q */

int *p;

BEGIN /1/ { printf("1"); }
BEGIN /0/ { printf("never"); }
BEGIN /p/ { printf("never"); }
BEGIN /!p/ /* still */ { printf("2"); p = (int *)16; }
BEGIN /p/{printf("3");}
BEGIN /p && (8 / 4 / 2 == 1)/ { printf("4"); }
BEGIN /arg0, 1/ { printf("5"); }
BEGIN /x = 6/ { printf("%d", x); }
BEGIN { exit(0); }
