#include "textflag.h"

// See entry_amd64.s. The stack pointer stays a multiple of 8, so there is room
// for two words: the variable stands there twice.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	MOVW R13, R0
	SUB $8, R13
	MOVW R13, R1
	MOVW (R0), R2
	ADD $2, R2
move:
	MOVW.P 4(R0), R3
	MOVW.P R3, 4(R1)
	SUB.S $1, R2
	BNE move
	MOVW $oneProcessor<>(SB), R3
	MOVW R3, (R1)
	MOVW R3, 4(R1)
	B _rt0_arm_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA|NOPTR, $16
