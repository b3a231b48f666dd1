/*
 * A machine that has not been written: no provider is loaded.
 */
#ifndef SDT_NONE_PROBE_H
#define SDT_NONE_PROBE_H

#include <elf.h>
#include <stdint.h>

#define PROBE_ELF   EM_NONE
#define PROBE_BYTES 1
#define PROBE_CODE \
	{          \
		0  \
	}
#define PROBE_SIZE       1
#define PROBE_OPERAND    "%d@%u"
#define PROBE_CODE_ALIGN 1
#define PROBE_DATA_ALIGN 1
#define PROBE_RETURN     0
#define PROBE_CFA                   \
	{                           \
		0, 0, 0, 0, 0, 0, 0 \
	}

#endif
