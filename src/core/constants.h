// What kernels and those who call them agree on. It is the same at every instruction level.
#pragma once

#include "arrays.h"

namespace glasswood {

constexpr int BATCH = 32;   // rows at a time
constexpr int PARTS = 8;    // of a sum, and doubles that are added at once
constexpr int BEHIND = 64;  // entries of memory that there must be behind a table of lookups

// A wide whole number is the sum of its limbs, of which limb k counts in units of 2**(26 * k).
constexpr int LIMBS = 5, LIMB_BITS = 26;
constexpr int64_t LIMB_MASK = (int64_t(1) << LIMB_BITS) - 1;

enum class Link { IDENTITY, LOGISTIC, SOFTMAX, EXP };

}  // namespace glasswood
