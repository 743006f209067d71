/* The network that the simulator here has resolved from a scenario, as lines of words.
 *
 *   run DURATION_PS WARMUP_PS IS_TRACED
 *   host ADDRESS
 *   switch HASH_SEED
 *   link NODE NODE RATE_BPS DELAY_PS OVERHEAD_BYTES QUEUE ECN QUEUE ECN
 *   route SWITCH HOST PORT...
 *   flow FROM TO SOURCE_PORT DESTINATION_PORT START_PS BYTES CONGESTION WINDOW SEGMENT_BYTES MIN_RTO_PS G_PS
 *        DELAYED_ACK_PS RECEIVE_BUFFER SEND_BUFFER
 *
 * Nodes are numbered in the order of their lines, hosts first. The ports of a switch are its links in their order.
 * A link has a queue for each direction: its capacity, and from how many packets on others are marked (0: never). A
 * flow of 0 bytes never ends. OVERHEAD_BYTES is what a packet occupies of the line beside its IP header and
 * payload. */
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Link {
    uint32_t ends[2];
    uint64_t rate_bps;
    uint64_t delay_ps;
    uint64_t overhead_bytes;
    struct {
        uint32_t queue;
        uint32_t ecn;
    } directions[2];
};

struct Route {
    uint32_t node;
    uint32_t host;
    std::vector<uint32_t> ports;
};

struct Flow {
    uint32_t from, to;
    uint16_t source_port, destination_port;
    uint64_t start_ps;
    uint64_t bytes;
    std::string congestion;
    uint32_t window, segment_bytes;
    uint64_t min_rto_ps, granularity_ps, delayed_ack_ps;
    uint32_t receive_buffer, send_buffer;
};

struct Input {
    uint64_t duration_ps = 0;
    uint64_t warmup_ps = 0;
    bool is_traced = false;
    std::vector<std::string> hosts;
    std::vector<uint64_t> switches;
    std::vector<Link> links;
    std::vector<Route> routes;
    std::vector<Flow> flows;

    static Input read(const char *path);
};

inline void read_line(Input &input, const std::string &kind, std::istringstream &words)
{
    if (kind == "run") {
        words >> input.duration_ps >> input.warmup_ps >> input.is_traced;
    } else if (kind == "host") {
        words >> input.hosts.emplace_back();
    } else if (kind == "switch") {
        words >> input.switches.emplace_back();
    } else if (kind == "link") {
        Link &link = input.links.emplace_back();
        words >> link.ends[0] >> link.ends[1] >> link.rate_bps >> link.delay_ps >> link.overhead_bytes;
        for (auto &direction : link.directions) {
            words >> direction.queue >> direction.ecn;
        }
    } else if (kind == "route") {
        Route &route = input.routes.emplace_back();
        words >> route.node >> route.host;
        for (uint32_t port; words >> port;) {
            route.ports.push_back(port);
        }
        words.clear();
    } else if (kind == "flow") {
        Flow &flow = input.flows.emplace_back();
        words >> flow.from >> flow.to >> flow.source_port >> flow.destination_port >> flow.start_ps >> flow.bytes;
        words >> flow.congestion >> flow.window >> flow.segment_bytes >> flow.min_rto_ps >> flow.granularity_ps;
        words >> flow.delayed_ack_ps >> flow.receive_buffer >> flow.send_buffer;
    } else {
        words.setstate(std::ios::failbit);
    }
}

inline Input Input::read(const char *path)
{
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error(std::string(path) + " cannot be read");
    }
    Input input;
    int number = 1;
    for (std::string line; std::getline(file, line); number++) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        read_line(input, kind, words);
        if (!words) {
            throw std::runtime_error(std::string(path) + ":" + std::to_string(number) + ": not a line of a network");
        }
    }
    return input;
}
