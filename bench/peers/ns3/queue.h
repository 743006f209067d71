/* A FIFO that marks packets which find this many others in the queue: the queue of a link here. ns-3's RED would drop
 * packets that cannot be marked instead. */
#pragma once

#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

class MarkingQueue : public ns3::QueueDisc
{
  public:
    /// The capacity in packets, and from how many on others are marked. The device before it holds one more.
    uint32_t limit = 0;
    uint32_t threshold = 0;

    MarkingQueue() : ns3::QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE, ns3::QueueSizeUnit::PACKETS) {}

    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId id =
            ns3::TypeId("MarkingQueue").SetParent<ns3::QueueDisc>().AddConstructor<MarkingQueue>();
        return id;
    }

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override
    {
        uint32_t queued = GetInternalQueue(0)->GetNPackets();
        if (queued >= limit) {
            DropBeforeEnqueue(item, "full");
            return false;
        }
        if (queued >= threshold) {
            Mark(item, "threshold");
        }
        return GetInternalQueue(0)->Enqueue(item);
    }

    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override { return GetInternalQueue(0)->Dequeue(); }

    bool CheckConfig() override
    {
        if (GetNInternalQueues() == 0) {
            AddInternalQueue(ns3::CreateObjectWithAttributes<ns3::DropTailQueue<ns3::QueueDiscItem>>(
                "MaxSize", ns3::QueueSizeValue(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, limit + 1))));
        }
        return true;
    }

    void InitializeParams() override {}
};
