/* A network of the simulator here, in ns-3: `network FILE` prints what its flows and links did as JSON.
 *
 * input.h says what enters, routing.h and queue.h have what ns-3 lacks. Everything else, TCP above all, is ns-3's own.
 * Packets occupy a line as long as here: PPP has less framing than Ethernet, so the rest is the gap between packets. */
#include "input.h"
#include "queue.h"
#include "routing.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <ctime>
#include <memory>

using namespace ns3;

namespace
{

/// The header of PPP.
constexpr uint64_t PPP_BYTES = 2;
/// What a sender writes at once.
constexpr uint64_t WRITE_BYTES = 65536;
/// A queue without limit.
constexpr uint32_t QUEUE_MAX = 100000000;

/// What waits for one direction of a link, over time.
struct Direction {
    Ptr<Queue<Packet>> device;
    Ptr<QueueDisc> marking;
    int64_t waiting = 0;
    double waiting_ps = 0;
    int64_t since_ps = 0;
    uint64_t packets_before = 0, drops_before = 0, marks_before = 0;

    void advance()
    {
        int64_t now = Simulator::Now().GetPicoSeconds();
        waiting_ps += double(waiting) * double(now - since_ps);
        since_ps = now;
    }

    void change(uint32_t before, uint32_t after)
    {
        advance();
        waiting += int64_t(after) - int64_t(before);
    }

    uint64_t packets() const { return device->GetTotalReceivedPackets(); }

    uint64_t drops() const
    {
        return device->GetTotalDroppedPackets() + (marking ? marking->GetStats().nTotalDroppedPackets : 0);
    }

    uint64_t marks() const { return marking ? marking->GetStats().nTotalMarkedPackets : 0; }

    void begin_window()
    {
        advance();
        waiting_ps = 0;
        packets_before = packets(), drops_before = drops(), marks_before = marks();
    }
};

/// A flow that runs.
struct Running {
    const Flow *plan;
    Ptr<Socket> sender;
    uint64_t written = 0;
    uint64_t received = 0, received_before = 0;
    int64_t completion_ps = -1;
};

struct Network {
    Input input;
    /// Packets in the measured window that found the queue of a device full, of all links together.
    uint64_t refused = 0;
    NodeContainer nodes;
    std::vector<std::unique_ptr<Direction>> directions;
    std::vector<Running> flows;
    /// The flows of each server's port by the client's address and port.
    std::map<std::tuple<uint32_t, uint16_t, uint32_t, uint16_t>, size_t> by_ends;
};

Ipv4Address address(const Network &network, uint32_t host)
{
    return Ipv4Address(network.input.hosts[host].c_str());
}

Ptr<FabricRouting> routing(const Network &network, uint32_t node)
{
    return DynamicCast<FabricRouting>(network.nodes.Get(node)->GetObject<Ipv4>()->GetRoutingProtocol());
}

void add_queue(Network &network, Ptr<PointToPointNetDevice> device, uint32_t limit, uint32_t threshold)
{
    auto direction = std::make_unique<Direction>();
    direction->device = device->GetQueue();
    uint32_t in_device = limit;
    if (threshold > 0) {
        in_device = 1;
        auto marking = CreateObject<MarkingQueue>();
        marking->limit = limit - 1, marking->threshold = threshold - 1;
        device->GetNode()->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, marking);
        direction->marking = marking;
    }
    direction->device->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::min(in_device, QUEUE_MAX)));
    if (network.input.is_traced) {
        auto changed = MakeCallback(&Direction::change, direction.get());
        direction->device->TraceConnectWithoutContext("PacketsInQueue", changed);
        if (direction->marking) {
            direction->marking->TraceConnectWithoutContext("PacketsInQueue", changed);
        }
    }
    network.directions.push_back(std::move(direction));
}

void add_link(Network &network, const Link &link)
{
    uint64_t gap_ps = (link.overhead_bytes - PPP_BYTES) * 8 * 1000000000000 / link.rate_bps;
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.rate_bps)));
    helper.SetDeviceAttribute("InterframeGap", TimeValue(PicoSeconds(gap_ps)));
    helper.SetDeviceAttribute("Mtu", UintegerValue(65535));
    helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(link.delay_ps)));
    NetDeviceContainer devices = helper.Install(network.nodes.Get(link.ends[0]), network.nodes.Get(link.ends[1]));
    for (int end = 0; end < 2; end++) {
        uint32_t node = link.ends[end];
        auto ipv4 = network.nodes.Get(node)->GetObject<Ipv4>();
        uint32_t interface = ipv4->AddInterface(devices.Get(end));
        if (node < network.input.hosts.size()) {
            ipv4->AddAddress(interface, Ipv4InterfaceAddress(address(network, node), Ipv4Mask("255.255.255.0")));
        }
        ipv4->SetUp(interface);
        auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
        add_queue(network, device, link.directions[end].queue, link.directions[end].ecn);
    }
}

void build(Network &network)
{
    const Input &input = network.input;
    network.nodes.Create(input.hosts.size() + input.switches.size());
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(FabricRoutingHelper());
    stack.Install(network.nodes);
    for (uint32_t node = 0; node < network.nodes.GetN(); node++) {
        auto refuse = MakeBoundCallback(+[](Network *network, Ptr<const Packet>) { network->refused++; }, &network);
        network.nodes.Get(node)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", refuse);
    }
    for (const Link &link : input.links) {
        add_link(network, link);
    }
    for (uint32_t host = 0; host < input.hosts.size(); host++) {
        routing(network, host)->own = address(network, host);
    }
    for (uint32_t number = 0; number < input.switches.size(); number++) {
        routing(network, input.hosts.size() + number)->seed = input.switches[number];
    }
    for (const Route &route : input.routes) {
        auto &interfaces = routing(network, route.node)->routes[address(network, route.host).Get()];
        for (uint32_t port : route.ports) {
            interfaces.push_back(port + 1); // interface 0 is the loopback
        }
    }
}

Ptr<Socket> make_socket(const Network &network, uint32_t host, const Flow &flow)
{
    Ptr<Node> node = network.nodes.Get(host);
    std::string name = flow.congestion == "newreno" ? "LinuxReno" : flow.congestion == "cubic" ? "Cubic" : "Dctcp";
    auto tcp = node->GetObject<TcpL4Protocol>();
    tcp->SetAttribute("SocketType", TypeIdValue(TypeId::LookupByName("ns3::Tcp" + name)));
    Ptr<Socket> socket = tcp->CreateSocket();
    socket->SetAttribute("SegmentSize", UintegerValue(flow.segment_bytes));
    socket->SetAttribute("InitialCwnd", UintegerValue(flow.window));
    socket->SetAttribute("RcvBufSize", UintegerValue(flow.receive_buffer));
    socket->SetAttribute("SndBufSize", UintegerValue(flow.send_buffer));
    socket->SetAttribute("DelAckTimeout", TimeValue(PicoSeconds(flow.delayed_ack_ps)));
    socket->SetAttribute("MinRto", TimeValue(PicoSeconds(flow.min_rto_ps)));
    socket->SetAttribute("ClockGranularity", TimeValue(PicoSeconds(flow.granularity_ps)));
    socket->SetAttribute("ConnTimeout", TimeValue(Seconds(1)));
    return socket;
}

void write(Running *flow, Ptr<Socket> socket, uint32_t)
{
    uint64_t bytes = flow->plan->bytes;
    uint64_t end = bytes == 0 ? UINT64_MAX : bytes;
    while (flow->written < end) {
        uint64_t part = std::min({end - flow->written, WRITE_BYTES, uint64_t(socket->GetTxAvailable())});
        if (part == 0 || socket->Send(Create<Packet>(part)) < 0) {
            return;
        }
        flow->written += part;
    }
    socket->Close();
}

void start(Network *network, size_t number)
{
    Running &flow = network->flows[number];
    const Flow &plan = *flow.plan;
    flow.sender = make_socket(*network, plan.from, plan);
    flow.sender->Bind(InetSocketAddress(address(*network, plan.from), plan.source_port));
    flow.sender->SetConnectCallback(MakeBoundCallback(
                                        +[](Running *flow, Ptr<Socket> socket) { write(flow, socket, 0); }, &flow),
                                    MakeNullCallback<void, Ptr<Socket>>());
    flow.sender->SetSendCallback(MakeBoundCallback(&write, &flow));
    flow.sender->Connect(InetSocketAddress(address(*network, plan.to), plan.destination_port));
}

void receive(Running *flow, Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv()) {
        if (packet->GetSize() == 0) {
            break;
        }
        flow->received += packet->GetSize();
    }
    if (flow->received == flow->plan->bytes && flow->completion_ps < 0) {
        flow->completion_ps = Simulator::Now().GetPicoSeconds() - int64_t(flow->plan->start_ps);
    }
}

void accept(std::pair<Network *, size_t> listener, Ptr<Socket> socket, const Address &from)
{
    auto [network, first] = listener;
    const Flow &plan = *network->flows[first].plan;
    auto peer = InetSocketAddress::ConvertFrom(from);
    auto number = network->by_ends.at({peer.GetIpv4().Get(), peer.GetPort(), plan.to, plan.destination_port});
    socket->SetRecvCallback(MakeBoundCallback(&receive, &network->flows[number]));
    socket->SetCloseCallbacks(MakeBoundCallback(+[](int, Ptr<Socket> socket) { socket->Close(); }, 0),
                              MakeNullCallback<void, Ptr<Socket>>());
}

void add_flows(Network &network)
{
    for (const Flow &flow : network.input.flows) {
        network.flows.push_back(Running{&flow, nullptr});
    }
    std::map<std::pair<uint32_t, uint16_t>, bool> listens;
    for (size_t number = 0; number < network.flows.size(); number++) {
        const Flow &flow = *network.flows[number].plan;
        network.by_ends[{address(network, flow.from).Get(), flow.source_port, flow.to, flow.destination_port}] = number;
        if (!std::exchange(listens[{flow.to, flow.destination_port}], true)) {
            Ptr<Socket> listener = make_socket(network, flow.to, flow);
            listener->Bind(InetSocketAddress(address(network, flow.to), flow.destination_port));
            listener->Listen();
            listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address &>(),
                                        MakeBoundCallback(&accept, std::make_pair(&network, number)));
        }
        Simulator::Schedule(PicoSeconds(flow.start_ps), &start, &network, number);
    }
}

void begin_window(Network *network)
{
    network->refused = 0;
    for (auto &direction : network->directions) {
        direction->begin_window();
    }
    for (Running &flow : network->flows) {
        flow.received_before = flow.received;
    }
}

double seconds(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

void print(const Network &network, double processor_s)
{
    double window_ps = double(network.input.duration_ps - network.input.warmup_ps);
    uint64_t hops = 0;
    std::printf("{\"flows\": [");
    const char *comma = "";
    for (const Running &flow : network.flows) {
        std::printf("%s{\"window_bytes\": %lu, \"completion_ps\": %ld}", comma, flow.received - flow.received_before,
                    flow.completion_ps);
        comma = ", ";
    }
    std::printf("], \"channels\": [");
    comma = "";
    for (auto &direction : network.directions) {
        hops += direction->packets();
        direction->advance();
        std::printf("%s{\"packets\": %lu, \"queue_mean_packets\": %.6f, \"dropped\": %lu, \"marked\": %lu}", comma,
                    direction->packets() - direction->packets_before, direction->waiting_ps / window_ps,
                    direction->drops() - direction->drops_before, direction->marks() - direction->marks_before);
        comma = ", ";
    }
    std::printf("], \"refused\": %lu, \"hops\": %lu, \"processor_s\": %.6f}\n", network.refused, hops, processor_s);
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: network FILE\n");
        return 2;
    }
    Time::SetResolution(Time::PS);
    Network network;
    try {
        network.input = Input::read(arguments[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    build(network);
    add_flows(network);
    Simulator::Schedule(PicoSeconds(network.input.warmup_ps), &begin_window, &network);
    Simulator::Stop(PicoSeconds(network.input.duration_ps));
    double began_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    Simulator::Run();
    print(network, seconds(CLOCK_PROCESS_CPUTIME_ID) - began_s);
    Simulator::Destroy();
    return 0;
}
