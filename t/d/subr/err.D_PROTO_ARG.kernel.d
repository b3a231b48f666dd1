/* What only a kernel has is known by its prototype, too. */
BEGIN
{
	mutex_owned("none");
}
