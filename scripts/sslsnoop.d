#!/usr/bin/env -S dtrap -qs
/*
 * sslsnoop - what goes through OpenSSL, before it is encrypted and after
 *
 * usage: sslsnoop.d -c COMMAND | -p PID
 *
 * One block for each SSL_read, SSL_write and their forms with _ex: the direction,
 * the bytes, and the text, of which the first 512 bytes are shown.  The program
 * must use libssl as a shared library, or have its symbols.
 *
 *	$ sslsnoop.d -c 'openssl s_client -quiet -connect localhost:4433'
 *	...
 *	openssl[14634.14634] SSL_write 18 bytes
 *	known words
 *	CLOSE
 *
 *	openssl[14634.14634] SSL_read 12 bytes
 *	sdrow nwonk
 */
#pragma D option strsize=512
#pragma D option zdefs

pid$target::SSL_read:entry,
pid$target::SSL_write:entry
{
	self->buf = arg1;
	self->count = 0;
}

pid$target::SSL_read_ex:entry,
pid$target::SSL_write_ex:entry
{
	self->buf = arg1;
	self->count = arg3;
}

pid$target::SSL_read:return,
pid$target::SSL_write:return
/self->buf && (int)arg1 > 0/
{
	self->got = (int)arg1;
}

pid$target::SSL_read_ex:return,
pid$target::SSL_write_ex:return
/self->buf && (int)arg1 == 1/
{
	self->got = *(uint64_t *)copyin(self->count, 8);
}

pid$target::SSL_read:return,
pid$target::SSL_write:return,
pid$target::SSL_read_ex:return,
pid$target::SSL_write_ex:return
/self->got/
{
	printf("%s[%d.%d] %s %d bytes\n%s\n", execname, pid, tid, probefunc,
	    self->got, stringof(copyin(self->buf,
	    self->got < 511 ? self->got : 511)));
}

pid$target::SSL_read:return,
pid$target::SSL_write:return,
pid$target::SSL_read_ex:return,
pid$target::SSL_write_ex:return
{
	self->buf = 0;
	self->got = 0;
}
