/* A predicate without its end. */
BEGIN /pid == 1 { exit(0); }
