/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/atomic.h - for transports: atomics on words that this processor
 * reaches itself. */
#ifndef UCT_BASE_ATOMIC_H_
#define UCT_BASE_ATOMIC_H_

#include <stdatomic.h>
#include <string.h>

#include "ucs/compiler.h"
#include "uct/api/rma.h"

/* Is that an operation, and may the word lie there? */
static inline bool uct_atomic_is_valid(unsigned op, unsigned size_bytes,
                                       uint64_t address)
{
    return (op < UCT_ATOMIC_COUNT) &&
           ((size_bytes == 4) || (size_bytes == 8)) &&
           (address % size_bytes == 0);
}

#define UCT_ATOMIC_APPLY_(_type, _atomic, _target)                             \
    ({                                                                         \
        _Atomic _type *_at      = (_Atomic _type *)(_target);                  \
        _type          _operand = (_type)(_atomic)->operand;                   \
        _type          _old     = 0;                                           \
                                                                               \
        switch ((_atomic)->op) {                                               \
        case UCT_ATOMIC_ADD:                                                   \
            _old = atomic_fetch_add(_at, _operand);                            \
            break;                                                             \
        case UCT_ATOMIC_AND:                                                   \
            _old = atomic_fetch_and(_at, _operand);                            \
            break;                                                             \
        case UCT_ATOMIC_OR:                                                    \
            _old = atomic_fetch_or(_at, _operand);                             \
            break;                                                             \
        case UCT_ATOMIC_XOR:                                                   \
            _old = atomic_fetch_xor(_at, _operand);                            \
            break;                                                             \
        case UCT_ATOMIC_SWAP:                                                  \
            _old = atomic_exchange(_at, _operand);                             \
            break;                                                             \
        case UCT_ATOMIC_CSWAP:                                                 \
            _old = (_type)(_atomic)->compare;                                  \
            (void)atomic_compare_exchange_strong(_at, &_old, _operand);        \
            break;                                                             \
        case UCT_ATOMIC_COUNT:                                                 \
            break;                                                             \
        }                                                                      \
        _old;                                                                  \
    })

/* Do a valid operation on the word at target; @return what was there.
 * Sequentially consistent, as a reader on any processor expects of a network's
 * atomic: it pairs with every other one on that word. */
static inline uint64_t uct_atomic_apply(const struct uct_atomic *atomic,
                                        void                    *target)
{
    return (atomic->size_bytes == 4)
               ? UCT_ATOMIC_APPLY_(uint32_t, atomic, target)
               : UCT_ATOMIC_APPLY_(uint64_t, atomic, target);
}

/* Write what was there to result, [size_bytes], or nowhere when it is NULL. */
static inline void uct_atomic_give(void *result, unsigned size_bytes,
                                   uint64_t old)
{
    uint32_t old_32 = (uint32_t)old;

    if (result == NULL) {
        return;
    }
    if (size_bytes == sizeof(old_32)) {
        memcpy(result, &old_32, sizeof(old_32));
    } else {
        memcpy(result, &old, sizeof(old));
    }
}

#endif
