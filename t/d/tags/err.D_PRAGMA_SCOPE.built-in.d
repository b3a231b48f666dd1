/* Attributes of what the program did not define. */
#pragma D attributes Evolving/Evolving/ISA pid
BEGIN
{
}
