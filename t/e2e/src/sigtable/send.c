/* Everybody who sends a signal; and all has been sent when a call returns. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "sigtable.h"

struct request {
	int sig, value;
	bool queue;
};

static int to_helper = -1, from_helper = -1;

int
helper_to(void)
{
	return to_helper;
}

int
helper_from(void)
{
	return from_helper;
}

static int
queue(pid_t pid, pid_t tid, int sig, int value)
{
	siginfo_t si = { .si_signo = sig,
		.si_code = SI_QUEUE,
		.si_pid = getpid(),
		.si_uid = getuid() };

	si.si_value.sival_int = value;
	if (tid != 0)
		return (int)syscall(SYS_rt_tgsigqueueinfo, pid, tid, sig, &si);
	return (int)syscall(SYS_rt_sigqueueinfo, pid, sig, &si);
}

/* Another process, who does as it is asked until nobody is left to ask. */
static void
help(int in, int out)
{
	struct request q;

	while (read(in, &q, sizeof(q)) == sizeof(q)) {
		char done = 1;

		if ((q.queue ? queue(getppid(), 0, q.sig, q.value) :
			       kill(getppid(), q.sig)) != 0)
			done = 0;
		if (write(out, &done, 1) != 1)
			break;
	}
	_exit(0);
}

void
start_helper(void)
{
	int to[2], from[2];

	if (pipe(to) != 0 || pipe(from) != 0)
		die("pipe");
	helper = fork();
	if (helper < 0)
		die("fork");
	if (helper == 0) {
		close(to[1]);
		close(from[0]);
		help(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	to_helper = to[1];
	from_helper = from[0];
}

void
helper_at(pid_t pid, int to, int from)
{
	helper = pid;
	to_helper = to;
	from_helper = from;
}

static void
ask_helper(int sig, int value, bool queued)
{
	struct request q = { .sig = sig, .value = value, .queue = queued };
	char done;

	write_all(to_helper, &q, sizeof(q));
	read_all(from_helper, &done, 1);
	if (!done)
		die("the helper could not send");
}

/* ---- the kernel ---- */

static void
by_timer(int sig, pid_t tid, int value)
{
	struct sigevent ev = { .sigev_signo = sig,
		.sigev_notify = tid != 0 ? SIGEV_THREAD_ID : SIGEV_SIGNAL };
	struct itimerspec when = { .it_value.tv_nsec = 1 };
	timer_t timer;

	ev._sigev_un._tid = tid;
	ev.sigev_value.sival_int = value;
	/* By hand: the library would ask for no signal of its own. */
	int id;
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id) != 0)
		die("timer_create");
	timer = (timer_t)(intptr_t)id;
	if (timer_settime(timer, 0, &when, NULL) != 0)
		die("timer_settime");
	/* It is no longer set when its signal has been sent.  It is not
	 * deleted: its signal would go with it. */
	do
		timer_gettime(timer, &when);
	while (when.it_value.tv_sec != 0 || when.it_value.tv_nsec != 0);
}

/* Something has come to be read.  Both ends stay: the number of the descriptor
 * is in what is sent. */
static void
by_file(int sig, pid_t tid)
{
	struct f_owner_ex owner = {
		.type = tid != 0 ? F_OWNER_TID : F_OWNER_PID,
		.pid = tid != 0 ? tid : getpid(),
	};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0 ||
	    fcntl(fds[0], F_SETOWN_EX, &owner) != 0 ||
	    (sig != 0 && fcntl(fds[0], F_SETSIG, sig) != 0) ||
	    fcntl(fds[0], F_SETFL, O_ASYNC) != 0)
		die("fcntl");
	write_all(fds[1], "x", 1);
	/* Its end is to be heard of by nobody. */
	fcntl(fds[0], F_SETFL, 0);
}

static void
by_itimer(int which)
{
	struct itimerval when = { .it_value.tv_usec = 1 };

	setitimer(which, &when, NULL);
	do {
		work(1000);
		getitimer(which, &when);
	} while (when.it_value.tv_sec != 0 || when.it_value.tv_usec != 0);
}

static void
by_broken_pipe(void)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		die("pipe");
	close(fds[0]);
	if (write(fds[1], "x", 1) != -1 || errno != EPIPE)
		die("a broken pipe");
	close(fds[1]);
}

static void
by_file_size(void)
{
	int fd = memfd_create("sigtable", MFD_CLOEXEC);
	struct rlimit was, none;

	getrlimit(RLIMIT_FSIZE, &was);
	none = was;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	if (write(fd, "x", 1) != -1 || errno != EFBIG)
		die("a file that is too large");
	setrlimit(RLIMIT_FSIZE, &was);
	close(fd);
}

static void
by_child(void)
{
	child = fork();
	if (child == 0)
		_exit(9);
	/* Where the signal is ignored there is none to wait for, but the call
	 * lasts until it has gone. */
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void
by_urgent_data(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), in = -1;
	struct pollfd p = { .events = POLLPRI };

	if (bind(s, (struct sockaddr *)&sin, len) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&sin, &len) != 0 ||
	    connect(c, (struct sockaddr *)&sin, len) != 0 ||
	    (in = accept(s, NULL, NULL)) < 0)
		die("a connection");
	fcntl(in, F_SETOWN, getpid());
	send(c, "x", 1, MSG_OOB);
	p.fd = in;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	close(c);
	close(in);
	close(s);
}

static void
by_nature(int sig, int value)
{
	switch (sig) {
	case SIGALRM: by_itimer(ITIMER_REAL); break;
	case SIGCHLD: by_child(); break;
	case SIGIO: by_file(0, 0); break;
	case SIGPIPE: by_broken_pipe(); break;
	case SIGPROF: by_itimer(ITIMER_PROF); break;
	case SIGURG: by_urgent_data(); break;
	case SIGVTALRM: by_itimer(ITIMER_VIRTUAL); break;
	case SIGXFSZ: by_file_size(); break;
	default: by_timer(sig, 0, value);
	}
}

/* ---- all of them ---- */

static void
send_one(int sig, int value)
{
	enum whom to = sent_to(sig);
	pid_t tid = to == PROCESS ? 0 : to == THREAD_A ? tid_a : tid_b;

	switch (rows[sig].sender) {
	case KILL_P: kill(getpid(), sig); break;
	case QUEUE_P:
	case QUEUE_A:
	case QUEUE_B: queue(getpid(), tid, sig, value); break;
	case TGKILL_A:
	case TGKILL_B: syscall(SYS_tgkill, getpid(), tid, sig); break;
	case HELPER_KILL_P: ask_helper(sig, value, false); break;
	case HELPER_QUEUE_P: ask_helper(sig, value, true); break;
	case TIMER_P:
	case TIMER_A:
	case TIMER_B: by_timer(sig, tid, value); break;
	case FILE_P:
	case FILE_A:
	case FILE_B: by_file(sig, tid); break;
	case NATURAL: by_nature(sig, value); break;
	default: break;
	}
	settle();
}

/* Real-time signals queue: two of each. */
void
send_all(int round)
{
	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		for (int i = 0; i < (sig >= SIGRTMIN ? 2 : 1); i++)
			if (rows[sig].sender != NOBODY)
				send_one(sig, sig * 100 + round * 10 + i);
}
