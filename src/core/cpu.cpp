// Which instruction levels this processor can run: a module of its own, compiled for any processor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <string>
#include <vector>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#endif

namespace {

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
bool all(unsigned flags, std::initializer_list<int> bits) {
    for (const int bit : bits) {
        if (!(flags >> bit & 1)) return false;
    }
    return true;
}

// Which registers the operating system saves: bits 1 and 2 for AVX, and 5 to 7 for AVX-512.
unsigned saved_registers() {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// The best level first. The numbers are those of the bits in Intel's and AMD's manuals.
std::vector<std::string> levels() {
    unsigned a, b, c = 0, d, more_b = 0, more_c = 0, extended_c = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    __get_cpuid_count(7, 0, &a, &more_b, &more_c, &d);
    __get_cpuid(0x80000001, &a, &b, &extended_c, &d);
    const unsigned saved = all(c, {27}) ? saved_registers() : 0;
    const bool v2 = all(c, {0, 9, 13, 19, 20, 23}) && all(extended_c, {0});  // SSE3 to SSE4.2, CMPXCHG16B, POPCNT, LAHF
    const bool v3 = v2 && all(saved, {1, 2}) && all(c, {12, 22, 28, 29}) && all(more_b, {3, 5, 8}) && all(extended_c, {5});
    const bool v4 = v3 && all(saved, {5, 6, 7}) && all(more_b, {16, 17, 28, 30, 31});  // F, DQ, CD, BW, VL
    std::vector<std::string> found;
    if (v4 && all(more_c, {14})) found.push_back("avx512");  // VPOPCNTDQ
    if (v4) found.push_back("v4");
    if (v3) found.push_back("v3");  // FMA, MOVBE, AVX, F16C, BMI1, AVX2, BMI2, LZCNT
    if (v2) found.push_back("v2");
    return found;
}
#else
// Other processors than x86-64, and MSVC, have one level only.
std::vector<std::string> levels() { return {"baseline"}; }
#endif

}  // namespace

NB_MODULE(_cpu, m) { m.def("levels", &levels); }
