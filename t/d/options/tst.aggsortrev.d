/* @opts: -q -x aggsortrev */
BEGIN { @["a"] = sum(1); @["b"] = sum(2); exit(0); }
