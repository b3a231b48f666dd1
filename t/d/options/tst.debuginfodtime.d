/* Accepted; what it does is tested in t/e2e/05-debuginfod.sh. */
/* @opts: -q -x debuginfodtime=5 */
BEGIN { exit(0); }
