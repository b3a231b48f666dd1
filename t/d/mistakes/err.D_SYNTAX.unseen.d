/* An unseen character. */
BEGIN { exit(​0); }
