/* @args: 1 two */
BEGIN { trace($1); exit(0); }
