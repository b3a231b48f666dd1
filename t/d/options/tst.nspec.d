/* @opts: -q -x nspec=2 -x droptags */
BEGIN { printf("%d ", speculation()); printf("%d ", speculation()); printf("%d\n", speculation()); exit(0); }
