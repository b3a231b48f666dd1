/* @opts: -q -x verbose */
BEGIN { exit(3 - 3); }
