extern void twice_math(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {}
