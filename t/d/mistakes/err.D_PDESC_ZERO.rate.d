/* A rate of no unit. */
tick-1second { exit(0); }
