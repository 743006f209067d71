/* Numbers in network byte order, at any address. */
#include <stdint.h>
#include <string.h>

static inline uint32_t load16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return __builtin_bswap32(value);
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return __builtin_bswap64(value);
}

static inline void store16(uint8_t *p, uint32_t value)
{
    const uint16_t turned = __builtin_bswap16((uint16_t)value);
    memcpy(p, &turned, sizeof turned);
}

static inline void store32(uint8_t *p, uint32_t value)
{
    const uint32_t turned = __builtin_bswap32(value);
    memcpy(p, &turned, sizeof turned);
}
