/* @opts: -q -x destructive -x destructive=no */
/* @status: 1 */
BEGIN { system("echo permitted"); exit(0); }
