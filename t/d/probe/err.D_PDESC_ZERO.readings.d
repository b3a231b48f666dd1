/* Two readings; none matches, and the message has both. */

nobody::nothing:never
{
	exit(0);
}
