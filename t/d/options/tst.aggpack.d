/* @opts: -q -x encoding=ascii -x aggpack */
BEGIN { @["a"] = quantize(10); @["b"] = quantize(1); exit(0); }
