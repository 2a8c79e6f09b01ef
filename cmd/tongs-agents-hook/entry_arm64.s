#include "textflag.h"

// See entry_amd64.s. The stack pointer stays a multiple of 16, so there is room
// for two words: the variable stands there twice.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	MOVD RSP, R0
	SUB $16, RSP
	MOVD RSP, R1
	MOVD (R0), R2
	ADD $2, R2
move:
	MOVD.P 8(R0), R3
	MOVD.P R3, 8(R1)
	SUB $1, R2
	CBNZ R2, move
	MOVD $oneProcessor<>(SB), R3
	MOVD R3, (R1)
	MOVD R3, 8(R1)
	JMP _rt0_arm64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA|NOPTR, $16
