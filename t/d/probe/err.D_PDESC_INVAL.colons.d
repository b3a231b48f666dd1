/* Two colons that belong to a name, behind a provider that is not alone. */

dtrace:a::b:BEGIN
{
	exit(0);
}
