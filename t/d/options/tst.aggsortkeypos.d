/* @opts: -q -x aggsortkey -x aggsortkeypos=1 */
BEGIN { @["a", 2] = sum(1); @["b", 1] = sum(2); exit(0); }
