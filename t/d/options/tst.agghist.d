/* @opts: -q -x encoding=ascii */
BEGIN { setopt("agghist"); @["a"] = sum(10); @["b"] = sum(-5); exit(0); }
