/* What follows && is not at fault. */
BEGIN /execname = "cat" && pid == 3/ { exit(0); }
