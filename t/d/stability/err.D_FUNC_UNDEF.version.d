/* 1.7 does not have it yet. */
#pragma D option version=1.7
BEGIN { trace(toupper("a")); }
