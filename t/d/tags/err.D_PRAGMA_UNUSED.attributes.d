/* Attributes belong to something. */
#pragma D attributes Evolving/Evolving/ISA x
BEGIN
{
}
