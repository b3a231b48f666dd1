/* What the program does while it may be traced. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

#include "sigtable.h"

const char *library;

static void
nothing(void)
{
	for (int i = 0; i < 50; i++)
		work(i);
}

static void
load(void)
{
	for (int i = 0; i < 2; i++) {
		void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
		long (*fn)(long);

		if (lib == NULL)
			die(dlerror());
		fn = (long (*)(long))dlsym(lib, "from_ctor");
		for (int n = 0; n < 20; n++)
			fn(n);
		dlclose(lib);
	}
}

/* Will a handler of A or B be told of a child's end, and how often has one been? */
static bool child_is_told;
static int child_told;

static void
before_child(void)
{
	const struct row *r = &rows[SIGCHLD];

	child_is_told = is_handled_now(SIGCHLD) && (!r->in_a || !r->in_b);
	child_told = times_handled(SIGCHLD);
}

/* Afterwards the handler has been called, too: the end of the next child would be
 * the same signal, and a child inherits the action, which may be for one time. */
static void
await_child(void)
{
	siginfo_t si;

	/* It is not heard of where SIGCHLD is ignored. */
	while (waitid(P_PID, (id_t)child, &si, WEXITED) < 0 && errno == EINTR)
		;
	if (gettid() == tid_a)
		settle();
	while (child_is_told && times_handled(SIGCHLD) == child_told)
		sched_yield();
}

static void
fork_exec(void)
{
	before_child();
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		work(1);
		report_thread("forked", "child");
		report_actions("forked");
		take_by_wait("forked", "child");
		execute_self("leaf");
	}
	await_child();
}

static void
fork_only(void)
{
	for (int i = 0; i < 3; i++) {
		before_child();
		child = fork();
		if (child == 0) {
			work(1);
			report_thread("forked", "child");
			report_actions("forked");
			_exit(i);
		}
		await_child();
	}
}

static void
vfork_exec(void)
{
	before_child();
	child = vfork();
	if (child == 0)
		execute_self("leaf");
	await_child();
}

static void
spawn(void)
{
	char *const args[] = { (char *)self_path, "leaf", NULL };

	before_child();
	if (posix_spawn(&child, self_path, NULL, NULL, args, environ) != 0)
		die("posix_spawn");
	await_child();
}

static void *
short_life(void *arg)
{
	work((long)(intptr_t)arg);
	report_thread("thread", "young");
	return NULL;
}

static void
threads(void)
{
	for (intptr_t i = 0; i < 4; i++) {
		pthread_t th;

		if (pthread_create(&th, NULL, short_life, (void *)i) != 0)
			die("pthread_create");
		pthread_join(th, NULL);
	}
}

static void
exec(void)
{
	report_handled("before exec", false);
	execute_self("execed");
}

/* The mask is another for a while, and all the time nothing gets through. */
static void
masks(void)
{
	sigset_t all, was, free;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, NULL, &was);
	/* SIG_SETMASK would unblock the library's own. */
	sigemptyset(&free);
	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		if (sigismember(&was, sig) == 0)
			sigaddset(&free, sig);
	for (int i = 0; i < 20; i++) {
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		work(i);
		pthread_sigmask(SIG_UNBLOCK, &free, NULL);
		work(i);
	}
}

const struct phase phases[] = {
	{ "nothing", nothing, false },
	{ "dlopen", load, false },
	{ "fork-exec", fork_exec, false },
	{ "fork", fork_only, false },
	{ "vfork", vfork_exec, false },
	{ "spawn", spawn, false },
	{ "threads", threads, true },
	{ "exec", exec, false },
	{ "masks", masks, false },
	{ 0 },
};
