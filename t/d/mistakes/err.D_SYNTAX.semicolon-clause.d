/* Behind a clause stands none. */
BEGIN
{
	exit(0);
};
