/*
 * A pragma of a provider's attributes names the part that they are of.
 */
#pragma D attributes Evolving/Evolving/ISA provider syscall

BEGIN
{
	exit(0);
}
