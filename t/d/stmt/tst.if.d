/* if and else: one statement or many, nested, in a row, with a predicate. */
/* @opts: -q */

int i;

tick-1ms
{
	i++;
	if (i == 1)
		printf("1");
	else if (i == 2) {
		printf("2");
		this->two = 1;
	} else {
		if (i > 3)
			printf(">");
		else
			printf("=");
		printf("3");
	}
	if (this->two) {
		printf("!");
		this->two = 0;
	}
	printf(";");
}

tick-1ms
/i == 4/
{
	if (i) ; else printf("never");
	if (!i) {
		printf("never");
	}
	printf("\n");
	exit(0);
}
