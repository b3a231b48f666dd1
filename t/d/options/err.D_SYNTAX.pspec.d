/* A description without its clause. */
#pragma D option pspec

int*x
