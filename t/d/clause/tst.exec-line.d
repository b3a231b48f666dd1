#!/usr/bin/env -S dtrap -s
/* A first line for the kernel is skipped. */
/* @opts: -q */

BEGIN
{
	printf("run\n");
	exit(0);
}
