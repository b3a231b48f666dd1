/* A program is no library. */
#pragma D depends_on library x.d
BEGIN
{
}
