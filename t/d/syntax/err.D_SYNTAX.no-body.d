/* A probe without a body. */

BEGIN
