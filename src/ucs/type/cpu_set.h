/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/type/cpu_set.h - a set of up to 1024 processors (compatible API). A
 * number outside the set is ignored when written and absent when read. */
#ifndef UCS_TYPE_CPU_SET_H_
#define UCS_TYPE_CPU_SET_H_

#include <stddef.h>
#include <stdint.h>

typedef unsigned long int ucs_cpu_mask_t;

#define UCS_CPU_SETSIZE   1024
#define UCS_NCPUBITS      (8 * sizeof(ucs_cpu_mask_t))
#define UCS_CPUELT(_cpu)  ((_cpu) / UCS_NCPUBITS)
#define UCS_CPUMASK(_cpu) ((ucs_cpu_mask_t)1 << ((_cpu) % UCS_NCPUBITS))

typedef struct {
    ucs_cpu_mask_t ucs_bits[UCS_CPU_SETSIZE / UCS_NCPUBITS];
} ucs_cpu_set_t;

static inline void ucs_cpu_zero(ucs_cpu_set_t *set)
{
    size_t word;

    for (word = 0; word < UCS_CPUELT(UCS_CPU_SETSIZE); ++word) {
        set->ucs_bits[word] = 0;
    }
}

static inline void ucs_cpu_assign(size_t cpu, ucs_cpu_set_t *set, int present)
{
    if (cpu >= UCS_CPU_SETSIZE) {
        return;
    }
    if (present) {
        set->ucs_bits[UCS_CPUELT(cpu)] |= UCS_CPUMASK(cpu);
    } else {
        set->ucs_bits[UCS_CPUELT(cpu)] &= ~UCS_CPUMASK(cpu);
    }
}

#define UCS_CPU_ZERO(_set)      ucs_cpu_zero(_set)
#define UCS_CPU_SET(_cpu, _set) ucs_cpu_assign((size_t)(_cpu), (_set), 1)
#define UCS_CPU_CLR(_cpu, _set) ucs_cpu_assign((size_t)(_cpu), (_set), 0)

/* Nonzero if cpu is in the set. */
static inline int ucs_cpu_is_set(int cpu, const ucs_cpu_set_t *set)
{
    return (cpu >= 0) && (cpu < UCS_CPU_SETSIZE) &&
           ((set->ucs_bits[UCS_CPUELT((size_t)cpu)] &
             UCS_CPUMASK((size_t)cpu)) != 0);
}

/* The lowest processor of the set; 0 if it is empty. */
static inline int ucs_cpu_set_find_lcs(const ucs_cpu_set_t *set)
{
    int cpu;

    for (cpu = 0; cpu < UCS_CPU_SETSIZE; ++cpu) {
        if (ucs_cpu_is_set(cpu, set)) {
            return cpu;
        }
    }
    return 0;
}

#endif
