BEGIN
{
	p = (char *)16;
	copyinto(16, 4, p + 1);
}
