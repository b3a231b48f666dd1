/* @opts: -q -x droptags */
BEGIN { a = speculation(); b = speculation(); exit(0); }
