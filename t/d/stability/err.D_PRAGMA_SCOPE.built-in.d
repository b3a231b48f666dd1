#pragma D attributes Stable/Stable/Common pid
BEGIN { exit(0); }
