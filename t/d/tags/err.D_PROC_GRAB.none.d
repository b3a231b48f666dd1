/* A process that cannot be is not traced. */
pid4194399:::entry
{
}
