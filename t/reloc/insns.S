/*
 * The instructions that are run at home and displaced.  Each is assembled at
 * whatever address; branches and rip-relative operands are by distance, the
 * latter into the rig's data, D from home.
 *
 *	insn_cases[]	{ first byte, one past the last, text }
 *	insn_cases_end
 */
	.intel_syntax noprefix
	.set D, 0x102000

	.macro CASE insn:vararg
	.pushsection .text.insns, "ax"
771:	\insn
772:
	.popsection
	.pushsection .rodata.insns, "a"
773:	.asciz "\insn"
	.popsection
	.pushsection .data.rel.ro.insns, "aw"
	.quad 771b, 772b, 773b
	.popsection
	.endm

	.pushsection .data.rel.ro.insns, "aw"
	.globl insn_cases
	.balign 8
insn_cases:
	.popsection

	/* Conditional branches, short and long, both ways. */
	.irp cc, o,no,b,ae,e,ne,be,a,s,ns,p,np,l,ge,le,g
	CASE j\cc .+0x40
	CASE j\cc .-0x30
	CASE j\cc .+0x190
	CASE set\cc byte ptr [rip+D]
	CASE cmov\cc rax, [rip+D]
	.endr
	CASE loop .+0x20
	CASE loop .-0x20
	CASE loop .
	CASE loope .+0x20
	CASE loopne .+0x20
	CASE jrcxz .+0x20
	CASE jecxz .+0x20
	CASE .byte 0x67, 0xe2, 0x10
	CASE .byte 0x67, 0xe1, 0x10
	CASE .byte 0x67, 0xe0, 0x10

	/* Jumps and calls. */
	CASE jmp .+0x40
	CASE jmp .-0x20
	CASE jmp .+0x400
	CASE bnd jmp .+0x400
	CASE call .+0x100
	CASE call .+5
	CASE call .-0x60
	CASE call .+0x40000000
	CASE .byte 0x48, 0xe8, 0x10, 0, 0, 0
	CASE .byte 0x66, 0x48, 0xe8, 0x10, 0, 0, 0
	CASE .byte 0x67, 0xe8, 0x10, 0, 0, 0
	.irp r, rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15
	CASE jmp \r
	CASE call \r
	CASE notrack jmp \r
	CASE jmp qword ptr [\r]
	CASE jmp qword ptr [\r+0x10]
	CASE jmp qword ptr [\r+0x400]
	CASE call qword ptr [\r]
	CASE call qword ptr [\r+0x10]
	CASE call qword ptr [\r-0x10]
	CASE call qword ptr [\r-0x8]
	CASE call qword ptr [\r+0x7f]
	CASE call qword ptr [\r+0x7fffffff]
	CASE call qword ptr [\r+0x400]
	.endr
	CASE jmp qword ptr [rip+D]
	CASE call qword ptr [rip+D]
	CASE call qword ptr [rip+0x70000000]
	CASE notrack call qword ptr [rip+D]
	CASE call qword ptr [rsp+rcx*8]
	CASE call qword ptr [rsp+rcx*8+0x20]
	CASE call qword ptr [rax+rcx*8+0x20]
	CASE call qword ptr [rax+rcx*4-0x20]
	CASE call qword ptr [r12+r13*1]
	CASE call qword ptr [rcx*8+0x1000]
	CASE call qword ptr [0x10]
	CASE call qword ptr fs:[rax]
	CASE jmp qword ptr fs:[rax+8]
	CASE call qword ptr [eax]
	CASE call qword ptr [esp+8]
	CASE jmp qword ptr [rax+rcx*8+0x20]
	CASE jmp qword ptr [rsp+rcx*8]
	CASE .byte 0x48, 0xff, 0xd0
	CASE .byte 0xf2, 0xff, 0xd0
	CASE ret
	CASE rep ret
	CASE bnd ret
	CASE ret 8
	CASE ret 0x100
	CASE .byte 0x48, 0xc3

	/* The stack. */
	.irp r, rax,rcx,rdx,rbx,rsp,rbp,rsi,rdi,r8,r9,r10,r11,r12,r13,r14,r15
	CASE push \r
	CASE pop \r
	CASE push qword ptr [\r+8]
	CASE pop qword ptr [\r+8]
	CASE mov \r, rsp
	CASE mov rsp, \r
	CASE mov \r, rax
	CASE lea \r, [rsp+8]
	CASE lea \r, [\r+rdx*1+0x10]
	CASE lea rax, [\r+rcx*8-0x1234]
	CASE lea \r, [rip+D]
	CASE lea \r, [rip-0x20]
	CASE lea eax, [\r+rcx*4+7]
	CASE mov \r, [rip+D]
	CASE mov [rip+D], \r
	CASE cmp \r, [rip+D]
	CASE add [rip+D], \r
	CASE xchg [rip+D], \r
	CASE lock xadd [rip+D], \r
	CASE mov \r, 0x123456789abcdef0
	.endr
	.irp r, ax,cx,dx,bx,sp,bp,si,di,r8w,r15w
	CASE push \r
	CASE pop \r
	CASE mov \r, ax
	CASE lea \r, [rax+rcx*2+3]
	.endr
	.irp r, eax,ecx,edx,ebx,esp,ebp,esi,edi,r8d,r9d,r12d,r13d,r15d
	CASE mov \r, eax
	CASE mov eax, \r
	CASE mov r9d, \r
	CASE mov \r, \r
	CASE lea \r, [rax+rcx*2+3]
	CASE lea \r, [eax+ecx*2+3]
	CASE lea \r, [rip+D]
	CASE mov \r, [rip+D]
	CASE add \r, 5
	.endr
	CASE .byte 0x8b, 0xc3
	CASE .byte 0x48, 0x8b, 0xe5
	CASE .byte 0x66, 0x89, 0xc3
	CASE lea rax, [eip+0x100]
	CASE lea rax, [rcx*8]
	CASE lea rax, [0x12345678]
	CASE lea rax, [r12]
	CASE lea rax, [r13+r12*4]
	CASE .byte 0x64, 0x48, 0x8d, 0x41, 0x08
	CASE push 0x12
	CASE push -1
	CASE push 0x12345678
	CASE push qword ptr [rip+D]
	CASE pop qword ptr [rip+D]
	CASE push qword ptr [rsp]
	CASE pop qword ptr [rsp]
	CASE push fs
	CASE pushfq
	CASE leave
	CASE enter 0x20, 0
	CASE enter 0x20, 1
	.irp n, 0,1,8,0x10,0x7f,-0x80,-8,0x80,0x88,0x1000,0x7fffffff,-0x80000000
	CASE sub rsp, \n
	CASE add rsp, \n
	CASE and rsp, \n
	.endr
	CASE .byte 0x48, 0x81, 0xec, 8, 0, 0, 0
	CASE .byte 0x48, 0x81, 0xc4, 8, 0, 0, 0
	CASE add esp, 8
	CASE sub rsp, rax
	CASE add rsp, r8

	/* No-ops, and what looks like one. */
	CASE nop
	CASE .byte 0x66, 0x90
	CASE .byte 0x48, 0x90
	CASE xchg r8, rax
	CASE pause
	CASE nop dword ptr [rax]
	CASE nop dword ptr [rip+D]
	CASE .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	CASE .byte 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	CASE endbr64
	CASE endbr32
	CASE rdsspq rax
	CASE rdsspd ecx
	CASE prefetcht0 [rip+D]
	CASE prefetchw [rip+D]
	CASE .byte 0x0f, 0x1c, 0x00
	CASE lfence
	CASE mfence
	CASE fwait

	/* Memory and rip-relative operands, with and without immediates. */
	.irp op, add,or,adc,sbb,and,sub,xor,cmp
	CASE \op byte ptr [rip+D], 5
	CASE \op word ptr [rip+D], 0x1234
	CASE \op dword ptr [rip+D], 0x12345678
	CASE \op qword ptr [rip+D], -5
	CASE \op ah, [rip+D]
	CASE \op [rip+D], bh
	CASE \op eax, [rip+D]
	.ifnc \op, cmp
	CASE lock \op byte ptr [rip+D], 5
	.endif
	.endr
	CASE mov byte ptr [rip+D], 5
	CASE mov word ptr [rip+D], 0x1234
	CASE mov dword ptr [rip+D], 0x12345678
	CASE mov qword ptr [rip+D], -5
	CASE mov ah, [rip+D]
	CASE mov [rip+D], ch
	CASE mov sil, [rip+D]
	CASE test byte ptr [rip+D], 3
	CASE test dword ptr [rip+D], 0x12345678
	CASE test [rip+D], rax
	CASE not qword ptr [rip+D]
	CASE neg byte ptr [rip+D]
	CASE mul qword ptr [rip+D]
	CASE imul rax, [rip+D], 0x77
	CASE imul rax, [rip+D], 0x7777777
	CASE div byte ptr [rip+D]
	CASE idiv qword ptr [rip+D]
	CASE inc dword ptr [rip+D]
	CASE dec byte ptr [rip+D]
	CASE shl dword ptr [rip+D], 3
	CASE sar qword ptr [rip+D], cl
	CASE rol byte ptr [rip+D], 1
	CASE shld [rip+D], rax, 5
	CASE bt dword ptr [rip+D], 5
	CASE lock bts qword ptr [rip+D], 9
	CASE bt [rip+D], ecx
	CASE movzx eax, byte ptr [rip+D]
	CASE movsx rax, word ptr [rip+D]
	CASE movsxd rax, dword ptr [rip+D]
	CASE cmpxchg [rip+D], rdx
	CASE lock cmpxchg8b [rip+D]
	CASE lock cmpxchg16b [rip+D]
	CASE xadd [rip+D], ah
	CASE xchg [rip+D], dh
	CASE test [rip+D], bh
	CASE cmpxchg [rip+D], ch
	CASE bswap rax
	CASE popcnt rax, [rip+D]
	CASE crc32 eax, byte ptr [rip+D]
	CASE movbe rax, [rip+D]
	CASE mov rax, fs:[0x28]
	CASE mov rax, fs:[rip+D]
	CASE mov rax, gs:[0]
	CASE mov eax, [esi]
	CASE mov rax, [0x1000]
	CASE movabs al, [0x123456789abc]
	CASE mov eax, [rip+0x7fffff00]
	CASE mov eax, [rip-0x7fffff00]
	CASE xlatb
	CASE cpuid
	CASE xgetbv
	CASE cqo
	CASE lahf
	CASE sahf
	CASE cld
	CASE std
	CASE stc
	CASE cmc
	CASE in al, dx
	CASE cli
	CASE rdmsr
	CASE mov rax, cr0
	CASE rdfsbase rax
	CASE int3
	CASE ud2
	CASE ud1 eax, [rip+D]
	CASE .byte 0x0f, 0xff, 0xc0
	CASE xend
	CASE xtest
	CASE xabort 3

	/* Strings. */
	.irp s, movsb,movsw,movsd,movsq,stosb,stosd,stosq,lodsb,lodsq
	CASE \s
	CASE rep \s
	.endr
	.irp s, cmpsb,cmpsq,scasb,scasd,scasq
	CASE \s
	CASE repe \s
	CASE repne \s
	.endr
	CASE addr32 rep movsb

	/* System calls: the number in rax comes from the test. */
	CASE syscall
	CASE .byte 0x4e, 0x0f, 0x05

	/* x87, SSE, AVX, AVX-512. */
	CASE fld qword ptr [rip+D]
	CASE fstp qword ptr [rip+D]
	CASE fldcw [rip+D]
	CASE fnstcw [rip+D]
	CASE stmxcsr [rip+D]
	CASE fxsave [rip+D]
	CASE xsave [rip+0x102019]
	.irp op, movups,movaps,addps,mulps,xorps,sqrtps,cvtps2pd
	CASE \op xmm1, [rip+D]
	CASE \op xmm9, [rip+D]
	CASE \op xmm3, xmm12
	.endr
	CASE movaps [rip+D], xmm7
	CASE movdqu [rip+D], xmm15
	CASE movss xmm0, [rip+D]
	CASE movsd [rip+D], xmm1
	CASE movq xmm1, [rip+D]
	CASE movq [rip+D], xmm9
	CASE movd xmm1, eax
	CASE pshufd xmm1, [rip+D], 0x1b
	CASE shufps xmm1, [rip+D], 0x1b
	CASE cmpps xmm1, [rip+D], 2
	CASE pinsrw xmm1, [rip+D], 3
	CASE pextrw eax, xmm1, 3
	CASE pshufb xmm1, [rip+D]
	CASE palignr xmm1, [rip+D], 3
	CASE pcmpistri xmm1, [rip+D], 0x0c
	CASE pcmpestrm xmm1, [rip+D], 0x0c
	CASE aesenc xmm1, [rip+D]
	CASE pclmulqdq xmm1, [rip+D], 0x11
	CASE roundsd xmm1, [rip+D], 3
	CASE cvtsi2sd xmm1, qword ptr [rip+D]
	CASE cvttsd2si rax, [rip+D]
	CASE ucomisd xmm1, [rip+D]
	CASE movntdq [rip+D], xmm3
	CASE maskmovdqu xmm1, xmm2
	.irp v, vmovups,vmovdqu,vsqrtps
	CASE \v ymm1, [rip+D]
	CASE \v ymm9, [rip+D]
	CASE \v xmm1, [rip+D]
	.endr
	CASE vmovaps [rip+D], xmm7
	CASE vmovdqu [rip+D], ymm15
	CASE vaddps ymm1, ymm12, [rip+D]
	CASE vpshufb ymm8, ymm2, [rip+D]
	CASE vpshufd ymm1, [rip+D], 0x1b
	CASE vpermq ymm1, [rip+D], 0x1b
	CASE vperm2i128 ymm1, ymm2, [rip+D], 0x31
	CASE vpblendvb ymm1, ymm2, [rip+D], ymm4
	CASE vpcmpeqb ymm1, ymm2, [rip+D]
	CASE vfmadd213pd ymm1, ymm2, [rip+D]
	CASE vbroadcastss ymm1, [rip+D]
	CASE vinserti128 ymm1, ymm2, [rip+D], 1
	CASE vextracti128 [rip+D], ymm1, 1
	CASE vpmovmskb eax, ymm1
	CASE vgatherdps ymm1, [rax+ymm2*4], ymm3
	CASE vzeroupper
	CASE vzeroall
	CASE vcvtsi2sd xmm1, xmm2, qword ptr [rip+D]
	CASE vmovd xmm1, [rip+D]
	CASE andn rax, rcx, [rip+D]
	CASE bextr rax, [rip+D], rcx
	CASE blsr rax, [rip+D]
	CASE mulx rax, rcx, [rip+D]
	CASE pdep rax, rcx, [rip+D]
	CASE rorx rax, [rip+D], 5
	CASE shlx rax, [rip+D], rcx
	CASE adcx rax, [rip+D]
	CASE lzcnt rax, [rip+D]
	CASE tzcnt eax, [rip+D]
	CASE vmovdqu64 zmm1, [rip+D]
	CASE vmovdqu64 zmm17, [rip+D]
	CASE vmovdqu8 [rip+D], zmm30
	CASE vmovdqu64 ymm17, [rip+D]
	CASE vmovdqa64 xmm25, [rip+D]
	CASE vpternlogd zmm1, zmm2, [rip+D], 0x55
	CASE vpternlogd zmm1, zmm2, dword ptr [rip+D]{1to16}, 0x55
	CASE vpcmpeqb k1, zmm17, [rip+D]
	CASE vpcmpub k1{k2}, ymm17, [rip+D], 2
	CASE vpaddd zmm5{k3}{z}, zmm20, [rip+D]
	CASE vpermb zmm1, zmm2, [rip+D]
	CASE vmovdqu64 zmm1, [rax+0x40]
	CASE vmovdqu64 zmm1, [rax+rcx*8+0x1234]
	CASE vpminub ymm18, ymm17, [rip+D]
	CASE vptestnmb k1, ymm18, ymm18
	CASE kmovd eax, k1
	CASE kmovq k2, [rip+D]
	CASE kortestd k0, k1
	CASE vfmadd213sd xmm1, xmm2, [rip+D]
	CASE vrndscalesd xmm1, xmm2, [rip+D], 8
	CASE vreduceps zmm1, [rip+D], 4
	CASE vcmpps k1, zmm2, [rip+D], 3
	CASE vpshufd zmm1, [rip+D], 0x1b
	CASE vpslld zmm1, [rip+D], 3
	CASE vpgatherdd zmm1{k1}, [rax+zmm2*4]
	CASE vpscatterdd [rax+zmm2*4]{k1}, zmm3

	.pushsection .data.rel.ro.insns, "aw"
	.globl insn_cases_end
insn_cases_end:
	.popsection
	.section .note.GNU-stack, "", @progbits
