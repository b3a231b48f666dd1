/*
 * What did the one slow order do?  Everything that `handle' does is written down
 * as a speculation, which is kept if it took two seconds, and
 * thrown away if it did not.
 */
python$target:::function-entry
/copyinstr(arg1) == "handle"/
{
	self->story = speculation();
	self->begin = timestamp;
}

python$target:::function-entry
/self->story/
{
	speculate(self->story);
	printf("%s (%s:%d)\n", copyinstr(arg1), basename(copyinstr(arg0)), arg2);
}

syscall:::entry
/self->story/
{
	speculate(self->story);
	printf("        %s\n", probefunc);
}

python$target:::function-return
/self->story && copyinstr(arg1) == "handle"/
{
	this->slow = timestamp - self->begin >= 2000000000;
	this->end = 1;
}

python$target:::function-return
/this->slow/
{
	commit(self->story);
}

python$target:::function-return
/this->slow/
{
	exit(0);
}

python$target:::function-return
/this->end && !this->slow/
{
	discard(self->story);
	self->story = 0;
}
