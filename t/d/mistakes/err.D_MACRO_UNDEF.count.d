/* An operand is missing, and the script does not say what it takes.
 * @args: 7
 */
BEGIN { trace($1 + $2 + $3); }
