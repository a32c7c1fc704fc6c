/* A header for another chip. It is never read, and it must not shift the lines of the program. */
#pragma once
constexpr float factor = 5.0f;
constexpr int unused = 1;
