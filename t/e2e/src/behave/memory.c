/* Memory that is not as others': text that is copied, dropped, only executable
 * or not a file's any more; faults and input handled elsewhere. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "behave.h"

#define PAGE 4096

/* Functions with pages of their own. */
#define PAGED(name)                                                          \
	__attribute__((                                                      \
	    noinline, noclone, aligned(PAGE), section(".text." #name))) long \
	name(long n);                                                        \
	__asm__(".pushsection .text." #name "\n\t.p2align 12\n\t"            \
		".popsection");                                              \
	long name(long n)

PAGED(paged_first)
{
	long r = n;

	for (int i = 0; i < 3; i++)
		r = r * 3 + 1;
	__asm__ volatile(".skip 4096, 0x90" ::: "memory");
	return r;
}

static long
calls_of_paged(int times)
{
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += paged_first(i);
	return sum;
}

static char *
page_of_paged(void)
{
	return (char *)((uintptr_t)paged_first & ~(uintptr_t)(PAGE - 1));
}

/* Text becomes anonymous memory at the same place, as for huge pages. */
static int
anonymous_text(void)
{
	char *at = page_of_paged();

	printf("before %ld\n", calls_of_paged(20));
	midway();
	char *copy = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, at, 2 * PAGE);
	mprotect(copy, 2 * PAGE, PROT_READ | PROT_EXEC);
	if (mremap(copy, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		at) != at)
		return skip("mremap");
	madvise(at, 2 * PAGE, MADV_HUGEPAGE);
	printf("after %ld\n", calls_of_paged(20));
	return 0;
}

static int
exec_only(void)
{
	if (mprotect(page_of_paged(), 2 * PAGE, PROT_EXEC) != 0)
		return skip("mprotect");
	midway();
	printf("sum %ld\n", calls_of_paged(50));
	return 0;
}

/* Private pages are dropped, and come from the file again. */
static int
dropped_text(void)
{
	midway();
	for (int i = 0; i < 5; i++) {
		printf("sum %ld\n", calls_of_paged(20));
		if (madvise(page_of_paged(), 2 * PAGE, MADV_DONTNEED) != 0)
			printf("madvise: %s\n", strerror(errno));
	}
	return 0;
}

static int
writable_text(void)
{
	if (mprotect(page_of_paged(), 2 * PAGE,
		PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return skip("mprotect");
	midway();
	printf("sum %ld\n", calls_of_paged(50));
	mprotect(page_of_paged(), 2 * PAGE, PROT_READ | PROT_EXEC);
	printf("sum %ld\n", calls_of_paged(50));
	return 0;
}

#ifndef __NR_mseal
#define __NR_mseal 462
#endif

static int
sealed_text(void)
{
	if (syscall(__NR_mseal, page_of_paged(), 2 * PAGE, 0) != 0)
		return skip("mseal");
	midway();
	printf("sum %ld\n", calls_of_paged(50));
	return 0;
}

/* A program's file, read by the program. */
static int
reads_file(void)
{
	unsigned long sum = 0;
	char buf[4096];
	ssize_t n;

	midway();
	int fd = open("/proc/self/exe", O_RDONLY);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			sum = sum * 31 + (unsigned char)buf[i];
	close(fd);
	/* Some of it mapped as others map it. */
	fd = open("/proc/self/exe", O_RDONLY);
	unsigned char *m = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE, fd, 0);
	for (int i = 0; i < 16384; i++)
		sum = sum * 31 + m[i];
	printf("sum %lx %ld\n", sum, hot(20));
	return 0;
}

/* The number of mappings that are the program's own: a file's, heap, stack. */
static int
own_maps(void)
{
	char line[512];
	int files = 0;

	midway();
	hot(20);
	FILE *f = fopen("/proc/self/maps", "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		files += strchr(line, '/') != NULL;
	fclose(f);
	printf("mappings of files %d\n", files);
	return 0;
}

static int
barriers(void)
{
	long query = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (query < 0)
		return skip("membarrier");
	printf("unregistered %d\n",
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) <
		    0 &&
		errno == EPERM);
	midway();
	hot(20);
	/* Still nobody has registered for us. */
	printf("unregistered %d %d\n",
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) <
		    0 &&
		errno == EPERM,
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
		0, 0) < 0 &&
		errno == EPERM);
	syscall(
	    SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	int failed = 0;
	for (int i = 0; i < 100; i++) {
		failed += syscall(SYS_membarrier,
			      MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0;
		work(i);
	}
	printf("failed %d\n", failed);
	return 0;
}

static int
io_urings(void)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 8, &p), q[2], wrong = 0;
	char c = 0;

	if (fd < 0)
		return skip("io_uring_setup");
	if (pipe(q) != 0)
		return 1;
	char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4,
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	char *cq = mmap(NULL,
	    p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
	struct io_uring_sqe *sqes = mmap(NULL, p.sq_entries * sizeof(*sqes),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	volatile unsigned *tail = (unsigned *)(sq + p.sq_off.tail);
	unsigned *array = (unsigned *)(sq + p.sq_off.array);
	volatile unsigned *head = (unsigned *)(cq + p.cq_off.head);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	unsigned sq_mask = p.sq_entries - 1, cq_mask = p.cq_entries - 1;

	midway();
	for (int i = 0; i < 100; i++) {
		unsigned t = *tail & sq_mask;
		memset(&sqes[t], 0, sizeof(sqes[t]));
		sqes[t].opcode = IORING_OP_READ;
		sqes[t].fd = q[0];
		sqes[t].addr = (uintptr_t)&c;
		sqes[t].len = 1;
		sqes[t].user_data = (uint64_t)i;
		array[t] = t;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) != 1)
			wrong++;
		char x = (char)work(i);
		if (write(q[1], &x, 1) != 1)
			wrong++;
		long r = syscall(SYS_io_uring_enter, fd, 0, 1,
		    IORING_ENTER_GETEVENTS, NULL, 0);
		struct io_uring_cqe *e = &cqes[*head & cq_mask];
		if (r != 0 || e->user_data != (uint64_t)i || e->res != 1 ||
		    c != x)
			wrong++;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
	printf("wrong %d\n", wrong);
	return 0;
}

/* Faults of one thread that another answers. */
static int uffd;

static void *
answer(void *arg)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_msg msg;

	for (int i = 0; i < 20; i++) {
		struct pollfd p = { .fd = uffd, .events = POLLIN };
		poll(&p, 1, -1);
		if (read(uffd, &msg, sizeof(msg)) != sizeof(msg))
			break;
		memset(page, work(i), sizeof(page));
		struct uffdio_copy copy = { .dst = msg.arg.pagefault.address &
			    ~(uint64_t)(PAGE - 1),
			.src = (uintptr_t)page,
			.len = PAGE };
		ioctl(uffd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static int
user_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	pthread_t t;
	int sum = 0;

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) != 0)
		return skip("userfaultfd");
	char *m = mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = { .range = { (uintptr_t)m, 20 * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING };
	if (ioctl(uffd, UFFDIO_REGISTER, &reg) != 0)
		return skip("UFFDIO_REGISTER");
	pthread_create(&t, NULL, answer, NULL);
	midway();
	for (int i = 0; i < 20; i++)
		sum += work(m[i * PAGE]);
	pthread_join(t, NULL);
	printf("sum %d\n", sum);
	return 0;
}

const struct behaviour behave_memory[] = {
	{ "anonymous-text", anonymous_text },
	{ "exec-only", exec_only },
	{ "dropped-text", dropped_text },
	{ "writable-text", writable_text },
	{ "sealed-text", sealed_text },
	{ "reads-file", reads_file },
	{ "own-maps", own_maps },
	{ "barriers", barriers },
	{ "io-uring", io_urings },
	{ "user-faults", user_faults },
	{ 0 },
};
