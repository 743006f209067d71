/* Allocates zeroed memory for tables, in large pages if the system has them, as the switch does. free() releases it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *large(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    bytes = (bytes + page - 1) / page * page;
    void *const memory = aligned_alloc(page, bytes);
    if (memory == NULL)
        abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memset(memory, 0, bytes);
}
