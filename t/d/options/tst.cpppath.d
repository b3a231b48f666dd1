/* @opts: -C -x cpppath=/nonexistent/cpp */
/* @status: 1 */
BEGIN { exit(0); }
