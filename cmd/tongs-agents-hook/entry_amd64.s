#include "textflag.h"

// The entry point of the program, if the linker is told so (-E main.entry): it
// puts GOMAXPROCS=1 in front of the environment, which the runtime reads before
// a program can say anything, and goes on to the runtime's own. With one
// processor the runtime starts fewer threads, and the main goroutine is not
// moved to another one whose caches are empty: docs/performance.md. A build
// without the flag differs in nothing else.
//
// The kernel leaves on the stack the number of arguments, the arguments, a null
// pointer, and the environment (arch/x86/include/asm/elf.h, fs/binfmt_elf.c).
// What is before the environment moves down by one word to make room. Nobody
// else sees the variable: /proc/self/environ is where it was, and the program
// starts no other.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ SP, SI
	SUBQ $8, SP
	MOVQ SP, DI
	MOVQ (SI), CX
	ADDQ $2, CX // the number, and the null pointer
	CLD
	REP; MOVSQ
	LEAQ oneProcessor<>(SB), AX
	MOVQ AX, (DI)
	JMP _rt0_amd64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA|NOPTR, $16
