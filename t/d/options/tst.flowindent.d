/* @opts: -x flowindent */
BEGIN { trace(1); exit(0); }
