/* @opts: -q -x encoding=utf8 -x agghist */
BEGIN { @[1] = sum(10); @[2] = sum(5); exit(0); }
