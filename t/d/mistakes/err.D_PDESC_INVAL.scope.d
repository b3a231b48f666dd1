/* A name with colons is no scope where there are fields enough: how to write it. */
a:x:y:ns::f:entry
{
}
