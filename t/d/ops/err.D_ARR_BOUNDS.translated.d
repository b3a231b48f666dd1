/* What a translator gives is as large as its struct says. */
BEGIN
{
	trace(curlwpsinfo->pr_name[16]);
}
