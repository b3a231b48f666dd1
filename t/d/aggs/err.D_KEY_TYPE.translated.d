/* Only members of a translated object have values. */
BEGIN
{
	@[curpsinfo] = count();
}
