/* An action is a statement and no value. */
BEGIN
{
	pid ? trace(1) : trace(2);
}
