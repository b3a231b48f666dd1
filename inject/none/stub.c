/*
 * A machine that has not been written: no site has code of its own.
 */
#include "inject/stub.h"

bool
stub_possible(void)
{
	return false;
}

bool
stub_on_goroutines(void)
{
	return false;
}

uint32_t
stub_processor(void)
{
	return 0;
}

void
stub_reach(const struct window *w, uint64_t *lo, uint64_t *hi)
{
	*lo = 0;
	*hi = 0;
}

unsigned
stub_write(struct stub *s, const struct stub_world *world,
    const struct stub_body *body, const struct window *w, uint32_t id,
    const struct stub_places *at, uint8_t buf[STUB_SIZE_MAX])
{
	return 0;
}

unsigned
stub_run_write(struct stub_run *r, const struct stub_world *world,
    const struct stub_body *body, bool goroutine, uint64_t addr,
    uint8_t buf[STUB_RUN_MAX])
{
	*r = (struct stub_run){ .addr = addr };
	return 0;
}

int32_t
stub_saved_at(uint32_t saves, unsigned ureg)
{
	return INT32_MIN;
}

enum stub_place
stub_leave(const struct stub *s, struct target *t, struct uregs *regs)
{
	return STUB_OUTSIDE;
}

enum stub_place
stub_run_leave(const struct stub_run *r, const struct stub *s, struct target *t,
    struct uregs *regs)
{
	return STUB_OUTSIDE;
}

uint64_t
stub_text_pc(const struct stub *s, uint64_t pc)
{
	return pc;
}
