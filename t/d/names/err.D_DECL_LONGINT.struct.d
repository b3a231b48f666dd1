/* The message names the line of the opening brace. */
long struct pair
{
	int first;
};
