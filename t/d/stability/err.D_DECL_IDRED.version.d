/* 1.1 has it. */
#pragma D option version=1.1
int strstr;
BEGIN { exit(0); }
