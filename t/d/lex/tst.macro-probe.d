/* In a description an operand is text. */
/* @opts: -q */
/* @args: dtrace BEG 1 */

$1:::BEGIN { printf("%s\n", probename); }
$1:::$2* { printf("%s again\n", probename); }
tick-$3ms { exit(0); }
