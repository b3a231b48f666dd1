/* Accepted; what it does is tested in t/e2e/17-follow.sh. */
/* @opts: -q */
#pragma D option follow=none
BEGIN { exit(0); }
