/* @opts: -q -x zdefs */
nobody:::nothing { printf("never\n"); }
BEGIN { exit(0); }
