/* @opts: -q -x aggzoom -x encoding=ascii */
BEGIN { @ = quantize(1); @ = quantize(1); @ = quantize(8); exit(0); }
