// See kernels.h. Asks the processor, once a call, what it and the operating system
// can run (the compiler's built-in checks CPUID and XGETBV). This file is compiled
// for the oldest processor and must not contain arithmetic.
#include "compute/cpu/kernels.h"

#include "compute/base/why.h"
#include "compute/cpu/kernels_sets.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static bool always(void) {
    return true;
}

#if defined(__x86_64__)
// clang 14 has no name for it.
static bool has_f16c(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// No name for it either. Leaf 7, part 1.
static bool has_avxvnni(void) {
    unsigned eax, ebx, ecx, edx;
    return has_avx2() && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax >> 4 & 1);
}

static bool has_avx512vnni(void) {
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

// Best first.
static const struct kernel_set {
    const struct kernels *kernels;
    bool (*can_run)(void);
} sets[] = {
#if defined(__x86_64__)
    {&kernels_avx512vnni, has_avx512vnni},
    {&kernels_avx512, has_avx512},
    {&kernels_avxvnni, has_avxvnni},
    {&kernels_avx2, has_avx2},
#endif
    {&kernels_plain, always},
};
enum { SETS = sizeof sets / sizeof sets[0] };

const struct kernels *kernels_at(int index) {
    for (int i = 0; i < SETS; i++) {
        if (sets[i].can_run() && index-- == 0)
            return sets[i].kernels;
    }
    return NULL;
}

const struct kernels *kernels_choose(const char *isa, struct why *why) {
    if (!isa)
        isa = getenv("TOKENDRIP_ISA");
    if (!isa || !*isa)
        return kernels_at(0);
    for (int i = 0; i < SETS; i++) {
        if (strcmp(sets[i].kernels->isa, isa) != 0)
            continue;
        if (sets[i].can_run())
            return sets[i].kernels;
        why_set(why, "this processor cannot run %s: use %s or leave TOKENDRIP_ISA unset", isa,
                kernels_at(0)->isa);
        return NULL;
    }
    why_set(why,
            "instruction set '%s' is not known here: use plain, avx2, avxvnni, avx512 or "
            "avx512vnni",
            isa);
    return NULL;
}
