/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_names.c - names of settings that UCX has and that users set. They
 * are accepted in silence, whether or not they mean something here.
 *
 * Facts: the names that ucx_info -cf of UCX 1.13.1 prints, those that later
 * versions and clients use, and the prefixes of whole transport families. */
#include "ucs/config_names.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/config.h"

/* In order of strcmp. */
static const char *const names_known[] = {
    "ACC_DEVICES",
    "ADAPTIVE_PROGRESS",
    "ADDRESS_DEBUG_INFO",
    "ADDRESS_VERSION",
    "ALLOC_PRIO",
    "ASYNC_MAX_EVENTS",
    "ASYNC_SIGNO",
    "ATOMIC_MODE",
    "BCOPY_BW",
    "BCOPY_THRESH",
    "BUILTIN_MEMCPY_MAX",
    "BUILTIN_MEMCPY_MIN",
    "CMA_ALLOC",
    "CMA_BW",
    "CMA_FAILURE",
    "CMA_MAX_IOV",
    "CMA_MAX_NUM_EPS",
    "CMA_MEMORY_INVALIDATE",
    "CMA_SEG_SIZE",
    "CMA_TX_BUFS_GROW",
    "CMA_TX_MAX_BUFS",
    "CMA_TX_QUOTA",
    "CM_REUSEADDR",
    "CM_USE_ALL_DEVICES",
    "CONFIG_DIR",
    "CONNECT_ALL_TO_ALL",
    "DEBUG_SIGNO",
    "DYNAMIC_TL_SWITCH_INTERVAL",
    "ERROR_MAIL_FOOTER",
    "ERROR_MAIL_TO",
    "ERROR_SIGNALS",
    "EXTRA_OP_ATTR_FLAGS",
    "FENCE_MODE",
    "FLUSH_WORKER_EPS",
    "GDB_COMMAND",
    "GVA_ENABLE",
    "HANDLE_ERRORS",
    "KEEPALIVE_INTERVAL",
    "KEEPALIVE_NUM_EPS",
    "LISTENER_BACKLOG",
    "LOG_BUFFER",
    "LOG_DATA_SIZE",
    "LOG_FILE",
    "LOG_FILE_FILTER",
    "LOG_FILE_ROTATE",
    "LOG_FILE_SIZE",
    "LOG_LEVEL",
    "LOG_LEVEL_TRIGGER",
    "LOG_PRINT_ENABLE",
    "MAX_COMPONENT_MDS",
    "MAX_EAGER_LANES",
    "MAX_EAGER_RAILS",
    "MAX_HCA_PER_GPU",
    "MAX_RMA_LANES",
    "MAX_RMA_RAILS",
    "MAX_RNDV_LANES",
    "MAX_RNDV_RAILS",
    "MAX_WORKER_ADDRESS_NAME",
    "MAX_WORKER_NAME",
    "MEMTRACK_DEST",
    "MEMTRACK_LIMIT",
    "MEMTYPE_CACHE",
    "MEMTYPE_COPY_ENABLE",
    "MEMTYPE_REG_WHOLE_ALLOC_TYPES",
    "MEM_ALLOC_ALIGN",
    "MEM_CUDA_HOOK_MODE",
    "MEM_DLOPEN_PROCESS_RPATH",
    "MEM_DYNAMIC_MMAP_THRESH",
    "MEM_EVENTS",
    "MEM_LOG_LEVEL",
    "MEM_MALLOC_HOOKS",
    "MEM_MALLOC_RELOC",
    "MEM_MMAP_HOOK_MODE",
    "MEM_MODULE_UNLOAD_PREVENT_MODE",
    "MIN_RNDV_CHUNK_SIZE",
    "MODULES",
    "MODULE_DIR",
    "MODULE_LOG_LEVEL",
    "MULTI_LANE_MAX_RATIO",
    "MULTI_PATH_RATIO",
    "NET_DEVICES",
    "NODE_LOCAL_ID",
    "NUM_EPS",
    "NUM_PPN",
    "POSIX_ALLOC",
    "POSIX_BW",
    "POSIX_DIR",
    "POSIX_ERROR_HANDLING",
    "POSIX_FAILURE",
    "POSIX_FIFO_ELEM_SIZE",
    "POSIX_FIFO_HUGETLB",
    "POSIX_FIFO_MAX_POLL",
    "POSIX_FIFO_RELEASE_FACTOR",
    "POSIX_FIFO_SIZE",
    "POSIX_HUGETLB_MODE",
    "POSIX_MAX_NUM_EPS",
    "POSIX_RX_BUFS_GROW",
    "POSIX_RX_MAX_BUFS",
    "POSIX_SEG_SIZE",
    "POSIX_USE_PROC_LINK",
    "PREFER_OFFLOAD",
    "PROFILE_FILE",
    "PROFILE_LOG_SIZE",
    "PROFILE_MODE",
    "PROTOS",
    "PROTO_ENABLE",
    "PROTO_INDIRECT_ID",
    "PROTO_INFO",
    "PROTO_INFO_DIR",
    "PROTO_OVERHEAD",
    "PROTO_REQUEST_RESET",
    "RCACHE_ADDR_ALIGN",
    "RCACHE_CHECK_PFN",
    "RCACHE_ENABLE",
    "RCACHE_MAX_REGIONS",
    "RCACHE_MAX_SIZE",
    "RCACHE_MAX_UNRELEASED",
    "RCACHE_MEM_PRIO",
    "RCACHE_OVERHEAD",
    "RCACHE_PURGE_ON_FORK",
    "RCACHE_STAT_MAX",
    "RCACHE_STAT_MIN",
    "REG_NONBLOCK_FALLBACK",
    "REG_NONBLOCK_MEM_TYPES",
    "RESOLVE_REMOTE_EP_ID",
    "RKEY_MPOOL_MAX_MD",
    "RKEY_PTR_SEG_SIZE",
    "RNDV_ALIGN_THRESH",
    "RNDV_FRAG_ALLOC_COUNT",
    "RNDV_FRAG_MEM_TYPE",
    "RNDV_FRAG_MEM_TYPES",
    "RNDV_FRAG_SIZE",
    "RNDV_MEMTYPE_DIRECT_SIZE",
    "RNDV_PERF_DIFF",
    "RNDV_PIPELINE_ERROR_HANDLING",
    "RNDV_PIPELINE_SEND_THRESH",
    "RNDV_PIPELINE_SHM_ENABLE",
    "RNDV_PUT_FORCE_FLUSH",
    "RNDV_SCHEME",
    "RNDV_SEND_NBR_THRESH",
    "RNDV_THRESH",
    "RNDV_THRESH_FALLBACK",
    "RX_MPOOL_SIZES",
    "SA_DATA_VERSION",
    "SEG_SIZE",
    "SELECT_DISTANCE_MD",
    "SELF_ALLOC",
    "SELF_DEVICES",
    "SELF_FAILURE",
    "SELF_MAX_NUM_EPS",
    "SELF_NUM_DEVICES",
    "SELF_SEG_SIZE",
    "SHM_DEVICES",
    "SOCKADDR_TLS_PRIORITY",
    "STATS_DEST",
    "STATS_FILTER",
    "STATS_FORMAT",
    "STATS_TRIGGER",
    "SYSV_ALLOC",
    "SYSV_BW",
    "SYSV_ERROR_HANDLING",
    "SYSV_FAILURE",
    "SYSV_FIFO_ELEM_SIZE",
    "SYSV_FIFO_HUGETLB",
    "SYSV_FIFO_MAX_POLL",
    "SYSV_FIFO_RELEASE_FACTOR",
    "SYSV_FIFO_SIZE",
    "SYSV_HUGETLB_MODE",
    "SYSV_MAX_NUM_EPS",
    "SYSV_RX_BUFS_GROW",
    "SYSV_RX_MAX_BUFS",
    "SYSV_SEG_SIZE",
    "TCP_AF_PRIO",
    "TCP_ALLOC",
    "TCP_BRIDGE_DISCOVERY",
    "TCP_CM_FAILURE",
    "TCP_CM_PRIV_DATA_LEN",
    "TCP_CM_RCVBUF",
    "TCP_CM_REUSEADDR",
    "TCP_CM_SNDBUF",
    "TCP_CM_SYN_CNT",
    "TCP_CONN_NB",
    "TCP_EP_BIND_SRC_ADDR",
    "TCP_FAILURE",
    "TCP_KEEPCNT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_MAX_BW",
    "TCP_MAX_CONN_RETRIES",
    "TCP_MAX_IOV",
    "TCP_MAX_NUM_EPS",
    "TCP_MAX_POLL",
    "TCP_NODELAY",
    "TCP_PORT_RANGE",
    "TCP_PREFER_DEFAULT",
    "TCP_PUT_ENABLE",
    "TCP_RCVBUF",
    "TCP_RX_BUFS_GROW",
    "TCP_RX_MAX_BUFS",
    "TCP_RX_SEG_SIZE",
    "TCP_SENDV_THRESH",
    "TCP_SNDBUF",
    "TCP_SYN_CNT",
    "TCP_TX_BUFS_GROW",
    "TCP_TX_MAX_BUFS",
    "TCP_TX_SEG_SIZE",
    "TLS",
    "TM_FORCE_THRESH",
    "TM_MAX_BB_SIZE",
    "TM_SW_RNDV",
    "TM_THRESH",
    "TOPO_PRIO",
    "UNIFIED_MODE",
    "USE_MT_MUTEX",
    "VFS_ENABLE",
    "VFS_THREAD_AFFINITY",
    "WARN_INVALID_CONFIG",
    "WARN_UNUSED_ENV_VARS",
    "WIREUP_VIA_AM_LANE",
    "ZCOPY_THRESH",
};

/* Of transports and tools whose every setting is accepted. */
static const char *const names_families[] = {
    "ASYNC_",    "CMA_",     "CUDA_",  "DC_",      "EFA_",    "GAUDI_",
    "GDR_COPY_", "GGA_",     "IB_",    "KNEM_",    "MEM_",    "MEMTRACK_",
    "MLX5_",     "MM_",      "POSIX_", "PROFILE_", "RCACHE_", "RC_",
    "RDMACM_",   "RDMA_CM_", "ROCM_",  "SELF_",    "SRD_",    "STATS_",
    "SYSV_",     "TCP_",     "UD_",    "UGNI_",    "VFS_",    "XPMEM_",
    "ZE_",
};

static int names_compare(const void *name, const void *element)
{
    return strcmp(name, *(const char *const *)element);
}

bool ucs_config_name_is_listed(const char *name)
{
    return bsearch(name, names_known, UCS_ARRAY_COUNT(names_known),
                   sizeof(names_known[0]), names_compare) != NULL;
}

const char *ucs_config_name_listed(unsigned index)
{
    return (index < UCS_ARRAY_COUNT(names_known)) ? names_known[index] : NULL;
}

bool ucs_config_name_is_in_family(const char *name)
{
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(names_families); ++i) {
        size_t length = strlen(names_families[i]);

        if ((strncmp(name, names_families[i], length) == 0) &&
            (name[length] != '\0')) {
            return true;
        }
    }
    return false;
}

bool ucsi_config_is_ucx_name(const char *name)
{
    return ucs_config_name_is_listed(name) ||
           ucs_config_name_is_in_family(name);
}
