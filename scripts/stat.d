#!/usr/bin/env -S dtrap -qs
/*
 * stat - the size of each file that a program asks about, by a translator
 *
 * usage: stat.d -c COMMAND | -p PID
 *
 * stat, lstat, fstat and fstatat fill one structure of the kernel's, statx
 * another.  The translators say once where the members are, and the clauses have
 * a structure of their own for both.
 *
 *	$ stat.d -c 'cat d/there'
 *	...
 *	/srv/d/there: 1000 bytes, mode 644, uid 0
 */
struct kernel_stat {
	uint64_t dev;
	uint64_t ino;
	uint64_t nlink;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	uint32_t pad;
	uint64_t rdev;
	int64_t size;
	int64_t blksize;
	int64_t blocks;
};

struct kernel_statx {
	uint32_t mask;
	uint32_t blksize;
	uint64_t attributes;
	uint32_t nlink;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;
	uint16_t pad;
	uint64_t ino;
	uint64_t size;
};

struct file_info {
	int64_t size;
	uint32_t mode;
	uint32_t uid;
};

translator struct file_info < struct kernel_stat *s > {
	size = s->size;
	mode = s->mode;
	uid = s->uid;
};

translator struct file_info < struct kernel_statx *s > {
	size = s->size;
	mode = s->mode;
	uid = s->uid;
};

syscall::stat:entry,
syscall::lstat:entry
{
	self->path = arg0;
	self->stat = arg1;
}

/* With an empty path it is the descriptor that is meant: that is how the C
 * library makes fstat. */
syscall::newfstatat:entry
{
	self->fd = (int)arg0;
	self->path = arg1;
	self->stat = arg2;
}

syscall::stat:return,
syscall::lstat:return,
syscall::newfstatat:return
/self->stat && errno == 0/
{
	this->s = (struct kernel_stat *)copyin(self->stat,
	    sizeof (struct kernel_stat));
	printf("%s: %d bytes, mode %o, uid %d\n", copyinstr(self->path) == "" ?
	    fds[self->fd].fi_pathname : copyinstr(self->path),
	    xlate <struct file_info *> (this->s)->size,
	    xlate <struct file_info *> (this->s)->mode & 07777,
	    xlate <struct file_info *> (this->s)->uid);
}

syscall::statx:entry
{
	self->path = arg1;
	self->statx = arg4;
}

syscall::statx:return
/self->statx && errno == 0/
{
	this->x = (struct kernel_statx *)copyin(self->statx,
	    sizeof (struct kernel_statx));
	printf("%s: %d bytes, mode %o, uid %d\n", copyinstr(self->path),
	    xlate <struct file_info *> (this->x)->size,
	    xlate <struct file_info *> (this->x)->mode & 07777,
	    xlate <struct file_info *> (this->x)->uid);
}

syscall::stat:return,
syscall::lstat:return,
syscall::newfstatat:return,
syscall::statx:return
{
	self->statx = 0;
	self->path = 0;
	self->stat = 0;
}
