/*
 * A thread in each call that waits.  When all sleep the test may stop and
 * release them as often as it likes (midway()); then each is given what it
 * waits for, and says how its call has ended.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "behave.h"

struct wait {
	const char *name;
	long (*call)(struct wait *);
	void (*wake)(struct wait *);
	int fd[2]; /* what is waited for comes from fd[0] */
	volatile pid_t tid;
	long result;
	int error;
	pthread_t thread;
	uint32_t word;
	int id;
};

/* Long, but not for ever. */
static const struct timespec minute = { 60, 0 };
static const struct timeval minute_tv = { 60, 0 };
static char dir[] = "/tmp/behave-waits.XXXXXX";

static void
wake_fd(struct wait *w)
{
	if (write(w->fd[1], "xxxxxxxx", 8) != 8)
		printf("%s: not woken\n", w->name);
}

static void
pair(struct wait *w, bool timed)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, w->fd) != 0)
		perror("socketpair");
	if (!timed)
		return;
	setsockopt(
	    w->fd[0], SOL_SOCKET, SO_RCVTIMEO, &minute_tv, sizeof(minute_tv));
	setsockopt(
	    w->fd[0], SOL_SOCKET, SO_SNDTIMEO, &minute_tv, sizeof(minute_tv));
}

static void
pipes(struct wait *w)
{
	if (pipe(w->fd) != 0)
		perror("pipe");
}

static long
read_pipe(struct wait *w)
{
	char buf[8];

	pipes(w);
	w->tid = gettid();
	return read(w->fd[0], buf, sizeof(buf));
}

static long
read_socket(struct wait *w)
{
	char buf[8];

	pair(w, true);
	w->tid = gettid();
	return read(w->fd[0], buf, sizeof(buf));
}

static long
recv_message(struct wait *w)
{
	char buf[8];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	pair(w, true);
	w->tid = gettid();
	return recvmsg(w->fd[0], &msg, 0);
}

static long
recv_messages(struct wait *w)
{
	char buf[8];
	struct iovec iov = { buf, sizeof(buf) };
	struct mmsghdr msg = { .msg_hdr = {
				   .msg_iov = &iov, .msg_iovlen = 1 } };

	pair(w, true);
	w->tid = gettid();
	return recvmmsg(w->fd[0], &msg, 1, 0, NULL);
}

static long
accept_one(struct wait *w, bool timed)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", dir, w->name);
	w->fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(w->fd[0], (struct sockaddr *)&sun, sizeof(sun)) != 0 ||
	    listen(w->fd[0], 1) != 0)
		perror("bind");
	if (timed)
		setsockopt(w->fd[0], SOL_SOCKET, SO_RCVTIMEO, &minute_tv,
		    sizeof(minute_tv));
	w->tid = gettid();
	return accept(w->fd[0], NULL, NULL) >= 0;
}

static long
accept_plain(struct wait *w)
{
	return accept_one(w, false);
}

static long
accept_timed(struct wait *w)
{
	return accept_one(w, true);
}

static void
wake_accept(struct wait *w)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", dir, w->name);
	w->fd[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(w->fd[1], (struct sockaddr *)&sun, sizeof(sun)) != 0)
		perror("connect");
}

static long
fill(struct wait *w)
{
	static char buf[4096];

	fcntl(w->fd[0], F_SETFL, O_NONBLOCK);
	while (write(w->fd[0], buf, sizeof(buf)) > 0)
		;
	fcntl(w->fd[0], F_SETFL, 0);
	w->tid = gettid();
	return write(w->fd[0], buf, sizeof(buf));
}

static long
write_socket(struct wait *w)
{
	pair(w, true);
	return fill(w);
}

static long
write_pipe(struct wait *w)
{
	pipes(w);
	int fd = w->fd[0];
	w->fd[0] = w->fd[1];
	w->fd[1] = fd;
	return fill(w);
}

static void
drain(struct wait *w)
{
	char buf[4096];

	fcntl(w->fd[1], F_SETFL, O_NONBLOCK);
	while (read(w->fd[1], buf, sizeof(buf)) > 0 || w->result == -2)
		;
}

static long
poll_fd(struct wait *w)
{
	pipes(w);
	struct pollfd p = { .fd = w->fd[0], .events = POLLIN };
	w->tid = gettid();
	return poll(&p, 1, 60000);
}

static long
ppoll_fd(struct wait *w)
{
	sigset_t set;

	pipes(w);
	sigfillset(&set);
	struct pollfd p = { .fd = w->fd[0], .events = POLLIN };
	w->tid = gettid();
	return ppoll(&p, 1, NULL, &set);
}

static long
select_fd(struct wait *w)
{
	struct timeval tv = minute_tv;
	fd_set set;

	pipes(w);
	FD_ZERO(&set);
	FD_SET(w->fd[0], &set);
	w->tid = gettid();
	return select(w->fd[0] + 1, &set, NULL, NULL, &tv);
}

static int
epoll_of(struct wait *w)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	pipes(w);
	epoll_ctl(ep, EPOLL_CTL_ADD, w->fd[0], &ev);
	w->tid = gettid();
	return ep;
}

static long
epoll_for_ever(struct wait *w)
{
	struct epoll_event ev;

	return epoll_wait(epoll_of(w), &ev, 1, -1);
}

static long
epoll_minute(struct wait *w)
{
	struct epoll_event ev;

	return epoll_wait(epoll_of(w), &ev, 1, 60000);
}

static long
epoll_masked(struct wait *w)
{
	struct epoll_event ev;
	sigset_t set;

	sigfillset(&set);
	return epoll_pwait(epoll_of(w), &ev, 1, -1, &set);
}

static long
epoll_spec(struct wait *w)
{
	struct epoll_event ev;

	return syscall(
	    441 /* epoll_pwait2 */, epoll_of(w), &ev, 1, &minute, NULL, 0);
}

/* A stop, SIGSTOP's as well, takes a waiter out of the queue; when it comes back
 * and the word is another, it is not let in again.  That is as good as woken. */
static long
wait_for_word(struct wait *w, const struct timespec *limit)
{
	long r = syscall(SYS_futex, &w->word, FUTEX_WAIT, 0, limit, NULL, 0);

	return r != 0 && errno == EAGAIN && w->word == 1 ? 0 : r;
}

static long
futex_wait(struct wait *w)
{
	w->tid = gettid();
	return wait_for_word(w, NULL);
}

static long
futex_timed(struct wait *w)
{
	w->tid = gettid();
	return wait_for_word(w, &minute);
}

static void
wake_futex(struct wait *w)
{
	w->word = 1;
	syscall(SYS_futex, &w->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static pthread_mutex_t pi_mutex;

static long
lock_pi(struct wait *w)
{
	w->tid = gettid();
	return pthread_mutex_lock(&pi_mutex);
}

static void
unlock_pi(struct wait *w)
{
	pthread_mutex_unlock(&pi_mutex);
}

static sem_t sem;

static long
wait_sem(struct wait *w)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 60;
	w->tid = gettid();
	return sem_timedwait(&sem, &ts);
}

static void
post_sem(struct wait *w)
{
	sem_post(&sem);
}

static const struct timespec third = { 0, 300000000 };

static long
sleep_third(struct wait *w)
{
	w->tid = gettid();
	return nanosleep(&third, NULL);
}

static long
sleep_until(struct wait *w)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += third.tv_nsec;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	w->tid = gettid();
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static long
poll_third(struct wait *w)
{
	w->tid = gettid();
	return poll(NULL, 0, 300);
}

static long
epoll_third(struct wait *w)
{
	struct epoll_event ev;

	return epoll_wait(epoll_of(w), &ev, 1, 300);
}

static void
wake_not(struct wait *w)
{
}

static sigset_t
signal_of(struct wait *w, int n)
{
	sigset_t set;

	w->id = SIGRTMIN + n;
	sigemptyset(&set);
	sigaddset(&set, w->id);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	w->tid = gettid();
	return set;
}

static long
wait_signal(struct wait *w)
{
	sigset_t set = signal_of(w, 3);
	siginfo_t si;

	return sigwaitinfo(&set, &si) == w->id;
}

static long
wait_signal_timed(struct wait *w)
{
	sigset_t set = signal_of(w, 4);
	siginfo_t si;

	return sigtimedwait(&set, &si, &minute) == w->id;
}

static long
read_signal(struct wait *w)
{
	struct signalfd_siginfo si;
	sigset_t set = signal_of(w, 5);
	int fd = signalfd(-1, &set, 0);

	return read(fd, &si, sizeof(si));
}

static void
on_signal(int sig, siginfo_t *si, void *uc)
{
	work(sig);
}

static long
pause_for(struct wait *w)
{
	w->id = SIGRTMIN + 6;
	catch_signal(w->id, on_signal, SA_RESTART);
	w->tid = gettid();
	return pause();
}

static long
suspend_for(struct wait *w)
{
	sigset_t set;

	w->id = SIGRTMIN + 7;
	catch_signal(w->id, on_signal, SA_RESTART);
	sigfillset(&set);
	sigdelset(&set, w->id);
	w->tid = gettid();
	return sigsuspend(&set);
}

static void
send_signal(struct wait *w)
{
	syscall(SYS_tgkill, getpid(), w->tid, w->id);
}

static long
read_event(struct wait *w)
{
	uint64_t n;

	w->fd[0] = w->fd[1] = eventfd(0, 0);
	w->tid = gettid();
	return read(w->fd[0], &n, sizeof(n));
}

static long
read_timer(struct wait *w)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec it = { { 0, 0 }, third };
	uint64_t n;

	timerfd_settime(fd, 0, &it, NULL);
	w->tid = gettid();
	return read(fd, &n, sizeof(n));
}

static long
read_inotify(struct wait *w)
{
	char buf[512], path[96];
	int fd = inotify_init1(0);

	snprintf(path, sizeof(path), "%s/%s", dir, w->name);
	mkdir(path, 0700);
	inotify_add_watch(fd, path, IN_CREATE);
	w->tid = gettid();
	return read(fd, buf, sizeof(buf)) > 0;
}

static void
touch(struct wait *w)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/file", dir, w->name);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static long
sem_op(struct wait *w, const struct timespec *ts)
{
	struct sembuf op = { 0, -1, 0 };

	w->id = semget(IPC_PRIVATE, 1, 0600);
	w->tid = gettid();
	return semtimedop(w->id, &op, 1, ts);
}

static long
sem_plain(struct wait *w)
{
	return sem_op(w, NULL);
}

static long
sem_timed(struct wait *w)
{
	return sem_op(w, &minute);
}

static void
wake_sem(struct wait *w)
{
	struct sembuf op = { 0, 1, 0 };

	semop(w->id, &op, 1);
	pthread_join(w->thread, NULL);
	semctl(w->id, 0, IPC_RMID);
}

static struct message {
	long type;
	char text[8192];
} message = { .type = 1 };

static long
receive(struct wait *w)
{
	struct message m;

	w->id = msgget(IPC_PRIVATE, 0600);
	w->tid = gettid();
	return msgrcv(w->id, &m, sizeof(m.text), 0, 0);
}

static void
wake_receive(struct wait *w)
{
	msgsnd(w->id, &message, 8, 0);
	pthread_join(w->thread, NULL);
	msgctl(w->id, IPC_RMID, NULL);
}

static long
send_message(struct wait *w)
{
	w->id = msgget(IPC_PRIVATE, 0600);
	while (msgsnd(w->id, &message, 8192, IPC_NOWAIT) == 0)
		;
	w->tid = gettid();
	return msgsnd(w->id, &message, 8192, 0);
}

static void
wake_send(struct wait *w)
{
	struct message m;

	msgrcv(w->id, &m, sizeof(m.text), 0, 0);
	pthread_join(w->thread, NULL);
	msgctl(w->id, IPC_RMID, NULL);
}

static long
lock_file(struct wait *w)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, w->name);
	w->fd[1] = open(path, O_CREAT | O_RDWR, 0600);
	w->fd[0] = open(path, O_RDWR);
	flock(w->fd[1], LOCK_EX);
	w->tid = gettid();
	return flock(w->fd[0], LOCK_EX);
}

static long
lock_range(struct wait *w)
{
	struct flock fl = { .l_type = F_WRLCK };
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, w->name);
	w->fd[1] = open(path, O_CREAT | O_RDWR, 0600);
	w->fd[0] = open(path, O_RDWR);
	fcntl(w->fd[1], F_OFD_SETLK, &fl);
	w->tid = gettid();
	return fcntl(w->fd[0], F_OFD_SETLKW, &fl);
}

/* Children have the descriptor, too. */
static void
unlock_file(struct wait *w)
{
	flock(w->fd[1], LOCK_UN);
}

static void
unlock_range(struct wait *w)
{
	struct flock fl = { .l_type = F_UNLCK };

	fcntl(w->fd[1], F_OFD_SETLK, &fl);
}

static long
open_fifo(struct wait *w)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, w->name);
	mkfifo(path, 0600);
	w->tid = gettid();
	return open(path, O_RDONLY) >= 0;
}

static void
wake_fifo(struct wait *w)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, w->name);
	w->fd[1] = open(path, O_WRONLY);
}

static long
wait_child(struct wait *w)
{
	int status = -1;
	char c;

	pipes(w);
	pid_t pid = fork();
	if (pid == 0) {
		close(w->fd[1]);
		_exit(read(w->fd[0], &c, 1) == 1 ? 9 : 1);
	}
	w->tid = gettid();
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static long
wait_vfork(struct wait *w)
{
	int status = -1;
	char c;

	pipes(w);
	w->tid = gettid();
	pid_t pid = vfork();
	if (pid == 0)
		_exit(read(w->fd[0], &c, 1) == 1 ? 9 : 1);
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static long
get_events(struct wait *w)
{
	aio_context_t ctx = 0;
	struct io_event ev;
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_POLL }, *cbs = &cb;

	pipes(w);
	cb.aio_fildes = (uint32_t)w->fd[0];
	cb.aio_buf = POLLIN;
	if (syscall(SYS_io_setup, 1, &ctx) != 0 ||
	    syscall(SYS_io_submit, ctx, 1, &cbs) != 1)
		perror("io_submit");
	w->tid = gettid();
	return syscall(SYS_io_getevents, ctx, 1, 1, &ev, NULL);
}

static long
splice_pipe(struct wait *w)
{
	int to[2];

	pipes(w);
	if (pipe(to) != 0)
		return -1;
	w->tid = gettid();
	return splice(w->fd[0], NULL, to[1], NULL, 8, 0);
}

#define WAIT(n, c, w)                                 \
	{                                             \
		.name = (n), .call = (c), .wake = (w) \
	}
static struct wait waits[] = {
	WAIT("read", read_pipe, wake_fd),
	WAIT("read-timeout", read_socket, wake_fd),
	WAIT("recvmsg", recv_message, wake_fd),
	WAIT("recvmmsg", recv_messages, wake_fd),
	WAIT("accept", accept_plain, wake_accept),
	WAIT("accept-timeout", accept_timed, wake_accept),
	WAIT("write", write_pipe, drain),
	WAIT("write-timeout", write_socket, drain),
	WAIT("poll", poll_fd, wake_fd),
	WAIT("ppoll", ppoll_fd, wake_fd),
	WAIT("select", select_fd, wake_fd),
	WAIT("epoll_wait", epoll_for_ever, wake_fd),
	WAIT("epoll_wait-timeout", epoll_minute, wake_fd),
	WAIT("epoll_pwait", epoll_masked, wake_fd),
	WAIT("epoll_pwait2", epoll_spec, wake_fd),
	WAIT("futex", futex_wait, wake_futex),
	WAIT("futex-timeout", futex_timed, wake_futex),
	WAIT("pi-futex", lock_pi, unlock_pi),
	WAIT("sem_timedwait", wait_sem, post_sem),
	WAIT("nanosleep", sleep_third, wake_not),
	WAIT("clock_nanosleep", sleep_until, wake_not),
	WAIT("poll-time", poll_third, wake_not),
	WAIT("epoll-time", epoll_third, wake_not),
	WAIT("sigwaitinfo", wait_signal, send_signal),
	WAIT("sigtimedwait", wait_signal_timed, send_signal),
	WAIT("signalfd", read_signal, send_signal),
	WAIT("pause", pause_for, send_signal),
	WAIT("sigsuspend", suspend_for, send_signal),
	WAIT("eventfd", read_event, wake_fd),
	WAIT("timerfd", read_timer, wake_not),
	WAIT("inotify", read_inotify, touch),
	WAIT("semop", sem_plain, wake_sem),
	WAIT("semtimedop", sem_timed, wake_sem),
	WAIT("msgrcv", receive, wake_receive),
	WAIT("msgsnd", send_message, wake_send),
	WAIT("flock", lock_file, unlock_file),
	WAIT("fcntl", lock_range, unlock_range),
	WAIT("open-fifo", open_fifo, wake_fifo),
	WAIT("io_getevents", get_events, wake_fd),
	WAIT("splice", splice_pipe, wake_fd),
	/* Last: the SIGCHLD of their ends may break off a call of another
	 * thread in a process that is traced (doc/safety.md). */
	WAIT("waitpid", wait_child, wake_fd),
	WAIT("vfork", wait_vfork, wake_fd),
};

#define WAITS (sizeof(waits) / sizeof(*waits))

static void *
run(void *arg)
{
	struct wait *w = arg;

	w->result = -2;
	w->result = w->call(w);
	w->error = w->result < 0 ? errno : 0;
	return NULL;
}

static void
remove_dir(void)
{
	char cmd[64];

	fflush(stdout);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (system(cmd) != 0)
		printf("not removed\n");
}

static int
waiting_calls(void)
{
	pthread_mutexattr_t attr;

	if (mkdtemp(dir) == NULL)
		return skip("mkdtemp");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi_mutex, &attr);
	pthread_mutex_lock(&pi_mutex);
	sem_init(&sem, 0, 0);
	for (size_t i = 0; i < WAITS; i++) {
		struct wait *w = &waits[i];
		pthread_create(&w->thread, NULL, run, w);
		while (w->tid == 0)
			work(1);
		await_sleep(w->tid);
	}
	midway();
	for (size_t i = 0; i < WAITS; i++) {
		struct wait *w = &waits[i];
		w->wake(w);
		work((int)i);
		pthread_join(w->thread, NULL);
		printf("%s: %ld %s\n", w->name, w->result,
		    w->error != 0 ? strerror(w->error) : "");
	}
	remove_dir();
	return 0;
}

const struct behaviour behave_waits[] = {
	{ "waiting-calls", waiting_calls },
	{ 0 },
};
