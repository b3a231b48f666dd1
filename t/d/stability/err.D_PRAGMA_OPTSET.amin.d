#pragma D option amin=Stable/Common
BEGIN { exit(0); }
