/* Of the program beside it. */
#pragma once
constexpr float factor = 3.0f;
