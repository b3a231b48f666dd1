/* Which process is part of the name. */
pid:::entry
{
}
