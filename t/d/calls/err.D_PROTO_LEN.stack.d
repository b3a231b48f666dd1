/* Arguments are looked at before the sentence that there is no kernel. */

BEGIN
{
	stack(1, 2);
}
