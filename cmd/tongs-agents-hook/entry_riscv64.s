#include "textflag.h"

// See entry_amd64.s. The stack pointer stays a multiple of 16, so there is room
// for two words: the variable stands there twice.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	MOV X2, A0
	ADD $-16, X2
	MOV X2, A1
	MOV (A0), A2
	ADD $2, A2
move:
	MOV (A0), A3
	MOV A3, (A1)
	ADD $8, A0
	ADD $8, A1
	ADD $-1, A2
	BNEZ A2, move
	MOV $oneProcessor<>(SB), A3
	MOV A3, (A1)
	MOV A3, 8(A1)
	JMP _rt0_riscv64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA|NOPTR, $16
