/* A letter that names do not have. */
BEGIN { grösse = 1; }
