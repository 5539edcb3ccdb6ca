/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/macro_values.c - compiled with UCX's headers and with ours; must
 * print the same. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <ucp/api/ucp.h>

#define SHOW(_value) printf(#_value ": %lld\n", (long long)(_value))

static void statuses(void)
{
    static const long pointers[] = {0, 1, 8, 4096, -1, -22, -99, -100, -101};
    size_t            i;

    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); ++i) {
        void *pointer = (void *)(intptr_t)pointers[i];

        printf("pointer %ld: error %d pointer %d status %d\n", pointers[i],
               !!UCS_PTR_IS_ERR(pointer), !!UCS_PTR_IS_PTR(pointer),
               (int)UCS_PTR_STATUS(pointer));
    }
    for (i = 0; i < 3; ++i) {
        ucs_status_t status = (ucs_status_t) - (int)i;

        printf("status -%d: pointer %lld error %d\n", (int)i,
               (long long)(intptr_t)UCS_STATUS_PTR(status),
               !!UCS_STATUS_IS_ERR(status));
    }
}

static void failures(void)
{
    static const int statuses[] = {0,   1,   -25, -39, -40, -59,
                                   -60, -80, -89, -90, -100};
    size_t           i;

    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); ++i) {
        ucs_status_t status = (ucs_status_t)statuses[i];

        printf("status %d: link %d endpoint %d\n", statuses[i],
               !!UCS_IS_LINK_ERROR(status), !!UCS_IS_ENDPOINT_ERROR(status));
    }
}

static void cpu_sets(void)
{
    ucs_cpu_set_t set;
    int           i, count = 0;

    UCS_CPU_ZERO(&set);
    SHOW(ucs_cpu_set_find_lcs(&set));
    UCS_CPU_SET(70, &set);
    UCS_CPU_SET(1023, &set);
    UCS_CPU_SET(5000, &set);
    SHOW(ucs_cpu_set_find_lcs(&set));
    for (i = 0; i < UCS_CPU_SETSIZE; ++i) {
        count += ucs_cpu_is_set(i, &set);
    }
    SHOW(count);
    UCS_CPU_CLR(70, &set);
    SHOW(ucs_cpu_is_set(70, &set));
    SHOW(ucs_cpu_is_set(5000, &set));
    SHOW(set.ucs_bits[15]);
}

int main(void)
{
    SHOW(UCP_ENTITY_NAME_MAX);
    SHOW(UCP_API_MAJOR);
    SHOW(UCP_VERSION(1, 20));
    SHOW(UCP_VERSION_MAJOR_SHIFT);
    SHOW(UCP_VERSION_MINOR_SHIFT);
    SHOW(UCP_API_VERSION == UCP_VERSION(UCP_API_MAJOR, UCP_API_MINOR));
    SHOW(ucp_dt_make_contig(1));
    SHOW(ucp_dt_make_contig(1000));
    SHOW(sizeof(ucp_dt_make_contig(8)));
    SHOW(ucp_dt_make_iov());
    SHOW(UCP_DATATYPE_CLASS_MASK);
    SHOW(UCS_BIT(0));
    SHOW(UCS_BIT(63));
    SHOW(UCS_MASK(0));
    SHOW(UCS_MASK(3));
    SHOW(UCS_MASK(63));
    SHOW(UCS_CPU_SETSIZE);
    SHOW(UCS_NCPUBITS);
    SHOW(UCS_CPUELT(65));
    SHOW(UCS_CPUMASK(65));
    SHOW(UCS_PTR_BYTE_DIFF(16, 40));
    SHOW(UCS_PTR_BYTE_OFFSET(16, -8));
    SHOW(UCS_MEMORY_TYPES_CPU_ACCESSIBLE & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    statuses();
    failures();
    cpu_sets();
    return 0;
}
