/* @opts: -q */
#pragma D option destructive
BEGIN { system("echo permitted"); exit(0); }
