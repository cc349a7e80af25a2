// Which instruction levels this processor can run: a module of its own, compiled for any processor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace {

// The best level first. Other processors than x86-64, and MSVC, have one level only.
std::vector<std::string> levels() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    std::vector<std::string> found;
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("fma");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (v4 && __builtin_cpu_supports("avx512vpopcntdq")) found.push_back("avx512");
    if (v4) found.push_back("v4");
    if (v3) found.push_back("v3");
    if (v2) found.push_back("v2");
    return found;
#else
    return {"baseline"};
#endif
}

}  // namespace

NB_MODULE(_cpu, m) { m.def("levels", &levels); }
