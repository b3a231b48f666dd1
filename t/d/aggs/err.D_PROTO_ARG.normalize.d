BEGIN
{
	@ = count();
	normalize(@, "5");
}
