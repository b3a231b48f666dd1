/* An operator is missing. */
BEGIN /pid == 1 execname == "x"/ { exit(0); }
