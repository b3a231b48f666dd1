/* @opts: -q -x rawbytes */
BEGIN { trace("abc"); exit(0); }
