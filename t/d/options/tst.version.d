/* Names that are younger than the version asked for are free. */
/* @opts: -q */
#pragma D option version=1.0
string strstr;
int index;
BEGIN { strstr = "mine"; index = 7; printf("%s %d %d\n", strstr, index, strlen(strstr)); exit(0); }
