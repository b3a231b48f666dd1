#pragma D option version=1
BEGIN { exit(0); }
