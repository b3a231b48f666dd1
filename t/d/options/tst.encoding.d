/* Bars of characters that every terminal has. */
/* @opts: -q -x encoding=ascii -x agghist */
BEGIN { @[1] = sum(10); @[2] = sum(5); exit(0); }
