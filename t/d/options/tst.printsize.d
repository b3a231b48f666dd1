/* Accepted, and while tracing; what it does is tested in print/tst.printsize.d. */
/* @opts: -q */
#pragma D option printsize=64k
BEGIN { setopt("printsize", "128"); exit(0); }
