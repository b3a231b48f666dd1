/* A brace too many. */
BEGIN { exit(0); } }
