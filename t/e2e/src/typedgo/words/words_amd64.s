#include "textflag.h"

// func Weigh(a int64, b int8, s string) (int64, int64)
TEXT ·Weigh(SB), NOSPLIT, $0-48
	MOVQ	a+0(FP), AX
	MOVBQSX	b+8(FP), BX
	ADDQ	BX, AX
	MOVQ	AX, ret+32(FP)
	MOVQ	s_len+24(FP), AX
	MOVQ	AX, ret1+40(FP)
	RET

// func Roundabout(n int64, m int32) int64
TEXT ·Roundabout(SB), 0, $24-24
	MOVQ	n+0(FP), AX
	MOVQ	AX, 0(SP)
	MOVL	m+8(FP), AX
	MOVL	AX, 8(SP)
	CALL	·Back(SB)
	MOVQ	16(SP), AX
	MOVQ	AX, ret+16(FP)
	RET
