//! What a switch's device is like: everything of its timing that is not a constant latency.
//!
//! What enters: the settings of a device, and the core of a switch. What leaves: the core with its queues, ports and
//! internal ports set up as the device has them.

use crate::channel::ChannelConfig;
use crate::pipeline::{PipelineConfig, packets_line};
use crate::switch_node::only_rewrites;
use crate::time::{Serialiser, Time};
use std::num::NonZeroU32;
use switch::{BufferSettings, InternalPort, InternalPortSettings, QueueSettings, Switch};

/// The settings of a device. The default one takes no time for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Queues for each port; 0 for one.
    pub priorities: u8,
    /// Whether the queues of ports do not know the rates of the links behind them: links have queues of their own then.
    pub is_blind: bool,
    /// The queue and service before the core.
    pub pipeline: Option<PipelineConfig>,
    /// Changes of queues, in this order.
    pub queues: Vec<QueueChange>,
    /// Ports that carry fewer bits a second than the links behind them, by the program's numbers.
    pub port_rates: Vec<(u32, u64)>,
    /// What all queues share.
    pub buffer: Option<BufferSettings>,
    /// What a controller has the switch do: commands of `simple_switch_CLI`, with the times at which they take effect,
    /// in order.
    pub commands: Vec<(Time, String)>,
    /// Internal ports, on which packets return into the switch with a latency.
    pub internal_ports: Vec<(InternalPort, InternalPortSettings)>,
}

/// Where the queue of a port is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueuePlace {
    /// In the core, whose ports have the rates of their lines.
    Core,
    /// At the link, where packets queue as they would in the core: no program can observe the difference.
    Behind,
    /// At the link, which has a queue of its own behind that of the core.
    Link,
}

/// What is different about some queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of `switch::QueueSettings`")]
pub struct QueueChange {
    /// The port; none for all.
    pub port: Option<u32>,
    /// The priority; none for all.
    pub priority: Option<u32>,
    pub capacity_packets: Option<usize>,
    pub capacity_bytes: Option<u64>,
    pub bits_per_s: Option<u64>,
    pub packets_per_s: Option<u64>,
    pub class: Option<u32>,
    pub weight: Option<NonZeroU32>,
}

impl QueueChange {
    fn apply(&self, queue: &mut QueueSettings) {
        fn set<T: Copy>(value: Option<T>, place: &mut T) {
            *place = value.unwrap_or(*place);
        }
        set(self.capacity_packets, &mut queue.capacity_packets);
        set(self.capacity_bytes, &mut queue.capacity_bytes);
        set(self.bits_per_s, &mut queue.bits_per_s);
        set(self.packets_per_s, &mut queue.packets_per_s);
        set(self.class, &mut queue.class);
        set(self.weight, &mut queue.weight);
    }
}

impl Device {
    /// Where the queues of a switch with this core are.
    pub fn queue_place(&self, core: &Switch) -> QueuePlace {
        let is_plain = self.priorities <= 1
            && self.queues.is_empty()
            && self.port_rates.is_empty()
            && self.buffer.is_none()
            && self.commands.is_empty();
        match self.is_blind {
            true => QueuePlace::Link,
            false if is_plain && only_rewrites(core.program()) => QueuePlace::Behind,
            false => QueuePlace::Core,
        }
    }

    /// Sets a core up whose ports have these numbers, each with the channel that follows it.
    pub(crate) fn set_up(&self, core: &mut Switch, ports: &[(u32, ChannelConfig)]) -> Result<(), String> {
        let no_port = |number: u32| format!("the program has no port {number}");
        let has_rates = self.queue_place(core) == QueuePlace::Core;
        // The others are as if they had none, but have to exist, too.
        for (number, channel) in ports.iter().filter(|_| !self.is_blind) {
            let channel = if has_rates { channel } else { &ChannelConfig::default() };
            let shaped = self.port_rates.iter().find(|(port, _)| port == number).map(|(_, rate)| *rate);
            let rates = [shaped.unwrap_or(0), channel.bits_per_s];
            let rate = rates.into_iter().filter(|rate| *rate > 0).min().unwrap_or(0);
            core.set_port_rate(*number, rate, channel.overhead_bytes).map_err(|_| no_port(*number))?;
            core.set_queues(Some(*number), None, |queue| {
                queue.capacity_packets = channel.queue_packets;
                queue.capacity_bytes = channel.queue_bytes;
            })
            .map_err(|_| no_port(*number))?;
        }
        for change in &self.queues {
            let refused = |_| match change.priority {
                Some(priority) => format!("there is no queue with priority {priority}"),
                None => no_port(change.port.unwrap_or_default()),
            };
            core.set_queues(change.port, change.priority, |queue| change.apply(queue)).map_err(refused)?;
        }
        if let Some(buffer) = self.buffer {
            core.set_buffer(buffer);
        }
        for (port, settings) in &self.internal_ports {
            core.set_internal_port(*port, *settings);
        }
        Ok(())
    }

    /// The least distance at which frames of this many bytes leave for a port with this channel, one behind the other:
    /// as its pipeline, the port and the fastest of its queues let them.
    pub fn spacing(&self, port: u32, channel: &ChannelConfig, frame_bytes: usize) -> Time {
        let on_line = |bits_per_s: u64| Serialiser::new(bits_per_s).duration(channel.line_bytes(frame_bytes));
        let of_queue = |priority: u32| {
            let mut queue = QueueSettings::of_priority(priority);
            let is_meant = |change: &&QueueChange| {
                change.port.is_none_or(|it| it == port) && change.priority.is_none_or(|it| it == priority)
            };
            self.queues.iter().filter(is_meant).for_each(|change| change.apply(&mut queue));
            on_line(queue.bits_per_s).max(packets_line(queue.packets_per_s).duration(1))
        };
        let pipeline = self.pipeline.as_ref().map_or(Time::ZERO, |pipeline| pipeline.service.time());
        let shaped = self.port_rates.iter().find(|(number, _)| *number == port && !self.is_blind);
        let queues = (0..u32::from(self.priorities.max(1))).map(of_queue).min().unwrap_or(Time::ZERO);
        pipeline.max(shaped.map_or(Time::ZERO, |(_, rate)| on_line(*rate))).max(queues)
    }
}

impl QueuePlace {
    /// The channel behind a port: where the core has the queue, the channel has none, and programs mark packets.
    pub fn channel(self, channel: ChannelConfig) -> ChannelConfig {
        match self {
            QueuePlace::Core => ChannelConfig {
                queue_packets: usize::MAX,
                queue_bytes: u64::MAX,
                ..QueuePlace::Behind.channel(channel)
            },
            QueuePlace::Behind => ChannelConfig { ecn_packets: usize::MAX, ecn_bytes: u64::MAX, ..channel },
            QueuePlace::Link => channel,
        }
    }
}
