/* Not after it has committed, */
BEGIN
{
	commit(1);
	speculate(1);
}
