/* Feeds frames from memory to DPDK programs, whatever driver they use.
 *
 * The library is preloaded. It adds a receive callback to port 0, which copies the frames of a file, one after the
 * other and repeatedly, over the packets of the driver (`net_null`, whose packets are empty). The cost of the driver is
 * thus that of getting buffers, and of a copy. The file has frames of 60 bytes, 64 bytes apart; WIRESPEED_FRAMES is its
 * path.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define STRIDE 64u
#define FRAME_BYTES 60u
#define AHEAD 8u

static const char *frames;
static uint64_t count, next;

static uint16_t fill(uint16_t port, uint16_t queue, struct rte_mbuf *packets[], uint16_t received, uint16_t most, void *own)
{
    (void)port, (void)queue, (void)most, (void)own;
    for (uint16_t i = 0; i < received; i++) {
        __builtin_prefetch(frames + (next + AHEAD) * STRIDE);
        memcpy(rte_pktmbuf_mtod(packets[i], void *), frames + next * STRIDE, FRAME_BYTES);
        next = next + 1 == count ? 0 : next + 1;
    }
    return received;
}

static void give_up(const char *why)
{
    fprintf(stderr, "frames: %s\n", why);
    exit(1);
}

static void load(void)
{
    const char *path = getenv("WIRESPEED_FRAMES");
    struct stat status;
    int file = path == NULL ? -1 : open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0 || (count = (uint64_t)status.st_size / STRIDE) == 0)
        give_up("WIRESPEED_FRAMES names no file of frames");
    frames = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (frames == MAP_FAILED)
        give_up("there is no memory for the frames");
}

int rte_eth_dev_start(uint16_t port)
{
    int (*start)(uint16_t) = (int (*)(uint16_t))dlsym(RTLD_NEXT, "rte_eth_dev_start");
    if (start == NULL)
        give_up("there is no DPDK behind this");
    int result = start(port);
    if (result == 0 && port == 0 && frames == NULL) {
        load();
        if (rte_eth_add_rx_callback(port, 0, fill, NULL) == NULL)
            give_up("the port takes no callback");
    }
    return result;
}
