/* Too many fields, and no name with colons among them. */

a:::b:c
{
	exit(0);
}
