/* A parenthesis is missing. */
BEGIN { if (pid == 1 { exit(0); } }
