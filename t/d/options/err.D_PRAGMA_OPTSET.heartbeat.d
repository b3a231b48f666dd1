/* A program does not say who ends it. */
#pragma D option heartbeat=10s
BEGIN { exit(0); }
