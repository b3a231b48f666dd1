#!/usr/bin/env -S dtrap -qs
/*
 * hotstacks - where the processor time goes: a profile of stacks
 *
 * usage: hotstacks.d -c COMMAND | -p PID
 *
 * 997 times a second the stack of each thread that is on a processor, with the
 * frames of languages that jstack() knows; at the end the ten that were seen
 * most, the most last.  As a flame graph:
 *
 *	dtrap -x report=hot.svg -n 'profile-997 { @[jstack(100)] = count(); }' -p PID
 */
profile-997
{
	@[execname, jstack()] = count();
}

END
{
	trunc(@, 10);
	printa("%s%k%@10d samples\n\n", @);
}
