/* Accepted; what it does is tested in t/e2e/05-debuginfod.sh. */
/* @opts: -q -x debuginfod=all */
BEGIN { exit(0); }
