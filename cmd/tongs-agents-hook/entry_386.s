#include "textflag.h"

// See entry_amd64.s. Here the program starts as any other does.
TEXT ·entry(SB), NOSPLIT|NOFRAME, $0
	JMP _rt0_386_linux(SB)
