/* A predicate without a body. */

BEGIN
/1/
