#pragma D option quiet

/* Who got at least so many grams, and who went without? */
BEGIN
{
	printf("%d grams or more:\n", $1);
}

pid$target:a.out:brew:entry
/args[0]->grams >= $1/
{
	printf("  guest %d, %s\n", args[0]->guest, stringof(args[0]->tea));
}

pid$target:a.out:price:return
/args[1] < 0/
{
	without++;
}

END
{
	printf("%d guests without tea\n", without);
}
