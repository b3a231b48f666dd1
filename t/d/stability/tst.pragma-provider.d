/*
 * Attributes of a provider's parts are accepted, whichever case they are written
 * in.
 */
/* @opts: -q */
#pragma D attributes Evolving/Evolving/ISA provider syscall provider
#pragma D attributes Evolving/Evolving/ISA provider syscall module
#pragma D attributes Evolving/Evolving/ISA provider syscall function
#pragma D attributes Evolving/Evolving/ISA provider syscall NAME
#pragma D attributes Evolving/Evolving/ISA provider syscall args

BEGIN
{
	printf("ok\n");
	exit(0);
}
