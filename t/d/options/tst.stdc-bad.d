/* @opts: -x stdc=q */
/* @status: 1 */
BEGIN { exit(0); }
