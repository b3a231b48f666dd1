/* Operands that the program does not mention. */
/* @opts: -q -x argref */
/* @args: 1 two 3 */
BEGIN { printf("%d\n", $1); exit(0); }
