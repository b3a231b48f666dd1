/* Sizes that cannot be had are not lowered. */
/* @opts: -q -x bufsize=1t -x bufresize=manual */
/* @status: 1 */
BEGIN { exit(0); }
