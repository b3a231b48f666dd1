/* An action that a constant chooses is still no value. */
BEGIN
{
	x = pid + (1 ? trace(1) : 2);
}
