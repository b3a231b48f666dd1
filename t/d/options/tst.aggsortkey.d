/* @opts: -q */
BEGIN { @["b"] = sum(1); @["a"] = sum(2); printa(@); setopt("aggsortkey"); printa(@); exit(0); }
