/* A function of C that D has an operator for. */
BEGIN /strcmp(execname, "ls") == 0/ { exit(0); }
