/* A brace is missing, and the text ends. */
BEGIN
{
	a = 1;
