/* The option, its value or both may be computed. */
/* @opts: -q */

BEGIN
{
	@a["one", 2] = sum(1);
	@a["two", 1] = sum(2);
	o = "aggsort";
	printa("%s ", @a);
	setopt(strjoin(o, "key"));
	setopt("aggsortkeypos", lltostr(1));
	printa("%s ", @a);
	setopt(strjoin(o, "keypos"), "0");
	setopt(strjoin(o, "rev"), strjoin("y", "es"));
	printa("%s ", @a);
	clear(@a);
	trunc(@a);
	exit(0);
}
