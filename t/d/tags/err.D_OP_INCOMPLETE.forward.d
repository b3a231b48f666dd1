/* A struct that is not defined has no members. */
struct fwd;

BEGIN
{
	trace(((struct fwd *)alloca(8))->x);
}
