#pragma D option quiet
#pragma D option zdefs

provider bar {
	probe tea(int guest, string said);
};

bar$target:::tea
{
	printf("guest %d says %s\n", args[0], args[1]);
}

bar$target:::tea
/args[0] >= 9/
{
	exit(0);
}
