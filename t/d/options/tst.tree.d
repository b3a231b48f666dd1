/* @opts: -q -x tree=8 */
BEGIN { x = 1 + 2 * arg0; exit(0); }
