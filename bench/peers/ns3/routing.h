/* Routes as they are given, and of equal ones that of the flow's hash: the plain routers here choose the same. */
#pragma once

#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <map>
#include <vector>

class FabricRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId id = ns3::TypeId("FabricRouting").SetParent<ns3::Ipv4RoutingProtocol>();
        return id;
    }

    /// What distinguishes the hash of this node; the interfaces to each host's address.
    uint64_t seed = 0;
    std::map<uint32_t, std::vector<uint32_t>> routes;
    /// The address of a host; a switch has none.
    ns3::Ipv4Address own;

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>, const ns3::Ipv4Header &header,
                                         ns3::Ptr<ns3::NetDevice>, ns3::Socket::SocketErrno &error) override
    {
        // A host has one link.
        error = ns3::Socket::ERROR_NOTERROR;
        return Route(header.GetDestination(), 1);
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header,
                    ns3::Ptr<const ns3::NetDevice> from, UnicastForwardCallback forward, MulticastForwardCallback,
                    LocalDeliverCallback deliver, ErrorCallback) override
    {
        if (header.GetDestination() == own) {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(from));
            return true;
        }
        auto found = routes.find(header.GetDestination().Get());
        if (found == routes.end() || found->second.empty()) {
            return false;
        }
        const auto &equal = found->second;
        uint32_t interface = equal.size() == 1 ? equal[0] : equal[Hash(packet, header) % equal.size()];
        forward(Route(header.GetDestination(), interface), packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { m_ipv4 = ipv4; }
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    ns3::Ptr<ns3::Ipv4> m_ipv4;

    ns3::Ptr<ns3::Ipv4Route> Route(ns3::Ipv4Address destination, uint32_t interface)
    {
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetDestination(destination);
        route->SetSource(own);
        route->SetGateway(ns3::Ipv4Address::GetZero());
        route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
        return route;
    }

    /// The hash of `sim::router`.
    uint64_t Hash(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header &header) const
    {
        uint8_t ports[4] = {};
        packet->CopyData(ports, sizeof ports);
        uint64_t both = uint64_t(ports[0]) << 24 | ports[1] << 16 | ports[2] << 8 | ports[3];
        uint64_t hash = seed;
        for (uint64_t value : {uint64_t(header.GetSource().Get()), uint64_t(header.GetDestination().Get()), both,
                               uint64_t(header.GetProtocol())}) {
            hash = (hash ^ value) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 29;
        }
        return hash >> 16;
    }
};

/// Gives each node such routing; the internet stack requires it.
class FabricRoutingHelper : public ns3::Ipv4RoutingHelper
{
  public:
    FabricRoutingHelper *Copy() const override { return new FabricRoutingHelper(*this); }
    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node>) const override
    {
        return ns3::CreateObject<FabricRouting>();
    }
};
