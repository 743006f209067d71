// What a driver needs of DPDK, as functions that can be called from outside of C: much of DPDK is inline functions and
// macros, and structures whose layout depends on how it was built. Nothing here keeps state. Names are `ws_dpdk_...`.

#include <errno.h>
#include <pthread.h>
#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <stdint.h>
#include <string.h>

// What a port is like once it is open.
struct ws_dpdk_port {
    uint16_t number;
    uint16_t mtu;
    uint16_t queues; // in each direction; of a port that could not be opened, how many the device has
    struct rte_mempool *pool;
};

// Numbers that the port has counted since it was started.
struct ws_dpdk_losses {
    uint64_t missed;
    uint64_t no_buffer;
    uint64_t errors;
};

// Starts DPDK, once in a process; 0 or a negative error number.
int ws_dpdk_start(int argument_count, char **arguments) {
    return rte_eal_init(argument_count, arguments) < 0 ? -rte_errno : 0;
}

static int configure(uint16_t number, uint16_t queues, uint64_t spread_by, uint16_t ring_entries,
                     struct rte_mempool *pool) {
    struct rte_eth_conf configuration;
    memset(&configuration, 0, sizeof configuration);
    // A device without such a hash has a way of its own to spread frames, or as many senders as queues.
    spread_by &= RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
    if (queues > 1 && spread_by != 0) {
        configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        configuration.rx_adv_conf.rss_conf.rss_hf = spread_by;
    }
    int error = rte_eth_dev_configure(number, queues, queues, &configuration);
    if (error != 0) {
        return error;
    }
    uint16_t rx_entries = ring_entries, tx_entries = ring_entries;
    error = rte_eth_dev_adjust_nb_rx_tx_desc(number, &rx_entries, &tx_entries);
    if (error != 0) {
        return error;
    }
    int socket = rte_eth_dev_socket_id(number);
    for (uint16_t queue = 0; queue < queues && error == 0; queue++) {
        error = rte_eth_rx_queue_setup(number, queue, rx_entries, socket, NULL, pool);
        if (error == 0) {
            error = rte_eth_tx_queue_setup(number, queue, tx_entries, socket, NULL);
        }
    }
    return error != 0 ? error : rte_eth_dev_start(number);
}

// Gives a device back that has no port any more.
static void let_go(const struct rte_eth_dev_info *information) {
    if (information->device != NULL) {
        (void)rte_dev_remove(information->device);
    }
}

// Takes the device that `arguments` describe, and starts a port on it, of `queues` queues in each direction or, if
// those are 0, of as many as the device has and `queues_max` allows. 0, or a negative error number, -ERANGE if the
// device has fewer; then nothing is left open.
int ws_dpdk_open(const char *arguments, const char *name, uint32_t buffers, uint16_t ring_entries, uint16_t queues,
                 uint16_t queues_max, struct ws_dpdk_port *port) {
    int error = rte_dev_probe(arguments);
    if (error != 0) {
        return error;
    }
    error = rte_eth_dev_get_port_by_name(name, &port->number);
    if (error != 0) {
        return error;
    }
    struct rte_eth_dev_info information;
    error = rte_eth_dev_info_get(port->number, &information);
    if (error != 0) {
        (void)rte_eth_dev_close(port->number);
        return error;
    }
    uint16_t existing = RTE_MIN(information.max_rx_queues, information.max_tx_queues);
    port->queues = queues != 0 ? queues : RTE_MIN(existing, queues_max);
    if (port->queues > existing) {
        port->queues = existing;
        (void)rte_eth_dev_close(port->number);
        let_go(&information);
        return -ERANGE;
    }
    port->mtu = RTE_ETHER_MTU;
    (void)rte_eth_dev_get_mtu(port->number, &port->mtu);
    // Each frame lies in one buffer: its room is for the longest that the port takes, with tags.
    uint32_t room = RTE_PKTMBUF_HEADROOM + RTE_MAX((uint32_t)port->mtu + 64, (uint32_t)RTE_MBUF_DEFAULT_DATAROOM);
    char pool_name[RTE_MEMPOOL_NAMESIZE];
    (void)snprintf(pool_name, sizeof pool_name, "wirespeed_%u", (unsigned)port->number);
    // Queues beyond the first have buffers of their own in it, in such numbers that DPDK stores them best.
    uint32_t pool_buffers = rte_align32pow2((buffers + 1) * port->queues) - 1;
    port->pool = rte_pktmbuf_pool_create(pool_name, pool_buffers, 256, 0, (uint16_t)RTE_MIN(room, (uint32_t)UINT16_MAX),
                                         rte_eth_dev_socket_id(port->number));
    error = port->pool == NULL ? -rte_errno : configure(port->number, port->queues, information.flow_type_rss_offloads,
                                                               ring_entries, port->pool);
    if (error == 0) {
        // Not every virtual device has such a mode; those hand over all frames anyway.
        (void)rte_eth_promiscuous_enable(port->number);
        return 0;
    }
    (void)rte_eth_dev_close(port->number);
    let_go(&information);
    rte_mempool_free(port->pool);
    return error;
}

static void close_port(struct ws_dpdk_port *port) {
    struct rte_eth_dev_info information;
    int known = rte_eth_dev_info_get(port->number, &information);
    (void)rte_eth_dev_stop(port->number);
    (void)rte_eth_dev_close(port->number);
    if (known == 0) {
        let_go(&information);
    }
    rte_mempool_free(port->pool);
}

// A port that is being closed.
struct closing {
    struct ws_dpdk_port *port;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int is_done;
};

static void close_there(void *argument) {
    struct closing *closing = argument;
    close_port(closing->port);
    pthread_mutex_lock(&closing->mutex);
    closing->is_done = 1;
    pthread_cond_signal(&closing->changed);
    pthread_mutex_unlock(&closing->mutex);
}

// Stops the port and gives its device back. That is done by DPDK's thread for interrupts and alarms: it may be about to
// work on the device, as that of a memif is when its other end goes, and nothing else keeps it from doing so afterwards.
void ws_dpdk_close(struct ws_dpdk_port *port) {
    struct closing closing = {port, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    if (rte_eal_alarm_set(1, close_there, &closing) != 0) {
        close_port(port);
        return;
    }
    pthread_mutex_lock(&closing.mutex);
    while (!closing.is_done) {
        pthread_cond_wait(&closing.changed, &closing.mutex);
    }
    pthread_mutex_unlock(&closing.mutex);
}

// Up to `count` received buffers.
uint16_t ws_dpdk_receive(uint16_t port, uint16_t queue, struct rte_mbuf **buffers, uint16_t count) {
    return rte_eth_rx_burst(port, queue, buffers, count);
}

// Hands buffers to be sent; those taken now belong to DPDK.
uint16_t ws_dpdk_send(uint16_t port, uint16_t queue, struct rte_mbuf **buffers, uint16_t count) {
    return rte_eth_tx_burst(port, queue, buffers, count);
}

// The bytes of a received frame, made one piece with its tag in it; null if there is no room for that.
uint8_t *ws_dpdk_frame(struct rte_mbuf **buffer, uint32_t *length) {
    if (((*buffer)->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 && rte_vlan_insert(buffer) != 0) {
        return NULL;
    }
    if (rte_pktmbuf_linearize(*buffer) != 0) {
        return NULL;
    }
    *length = rte_pktmbuf_pkt_len(*buffer);
    return rte_pktmbuf_mtod(*buffer, uint8_t *);
}

// A buffer with a copy of a frame; null if none is free or the frame does not fit.
struct rte_mbuf *ws_dpdk_fill(struct rte_mempool *pool, const uint8_t *frame, uint32_t length) {
    struct rte_mbuf *buffer = rte_pktmbuf_alloc(pool);
    if (buffer == NULL) {
        return NULL;
    }
    char *room = length <= rte_pktmbuf_tailroom(buffer) ? rte_pktmbuf_append(buffer, (uint16_t)length) : NULL;
    if (room == NULL) {
        rte_pktmbuf_free(buffer);
        return NULL;
    }
    memcpy(room, frame, length);
    return buffer;
}

// Gives a buffer back.
void ws_dpdk_free(struct rte_mbuf *buffer) {
    rte_pktmbuf_free(buffer);
}

// Whether the port has a link.
int ws_dpdk_has_link(uint16_t port) {
    struct rte_eth_link link;
    memset(&link, 0, sizeof link);
    return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

// What the port has lost on reception.
void ws_dpdk_losses(uint16_t port, struct ws_dpdk_losses *losses) {
    struct rte_eth_stats statistics;
    memset(&statistics, 0, sizeof statistics);
    (void)rte_eth_stats_get(port, &statistics);
    losses->missed = statistics.imissed;
    losses->no_buffer = statistics.rx_nombuf;
    losses->errors = statistics.ierrors;
}
