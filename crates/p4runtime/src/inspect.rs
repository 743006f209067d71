//! Inspection of a running switch: its identity, what is needed to copy it, packets as they arrive.
//!
//! What enters: requests of the second service. What leaves: streams. Forwarding continues: the state is read as for
//! any other client, packets are copied if the queue has room, and a client that reads too slowly misses some or is
//! disconnected.

use crate::kept::{program_name, read_kept};
use crate::service::Core;
use crate::status;
use crate::tasks::{blocking, start_blocking};
use base::limits::PACKET_BYTES_MAX;
use ir::Architecture;
use p4runtime_proto::wirespeed::v1::{AboutResponse, SnapshotPart, TapPacket, TapPattern, TapRequest};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use switch::tap::{Arrival, PATTERN_BYTES_MAX, Pattern, Taken, TapFilter, Watching};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::Status;

/// The most bytes of a part of a record.
const PART_BYTES_MAX: usize = 1 << 20;

/// Parts that may wait for the client.
const PARTS_MAX: usize = 4;

/// The timeout of a client that does not read a snapshot.
const READER_TIMEOUT: Duration = Duration::from_secs(20);

/// Packets that may wait for the client.
const TAP_PACKETS_MAX: usize = 256;

/// The most ports and the most patterns of a tap.
const TAP_CONDITIONS_MAX: usize = 64;

/// Messages for a client, as long as it has a place.
pub(crate) struct Messages<T> {
    receiver: mpsc::Receiver<Result<T, Status>>,
    _place: OwnedSemaphorePermit,
    /// Ends with the stream.
    _watching: Option<Watching>,
}

/// A snapshot.
pub(crate) type SnapshotParts = Messages<SnapshotPart>;

/// Packets that arrive.
pub(crate) type TapPackets = Messages<TapPacket>;

impl<T> Stream for Messages<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}

fn place(core: &Core) -> Result<OwnedSemaphorePermit, Status> {
    let place = Arc::clone(&core.inspecting).try_acquire_owned();
    place.map_err(|_| Status::resource_exhausted("too many clients inspect the switch at once: try again later"))
}

/// The identity of the switch.
pub(crate) fn about(core: &Core) -> AboutResponse {
    let note = core.api.program_note();
    let is_by_controller = read_kept(&note).is_some();
    AboutResponse { device_id: core.device_id, program: program_name(&note).to_owned(), is_by_controller }
}

/// The running program, and its state if requested.
pub(crate) fn snapshot(core: &Core, with_state: bool) -> Result<SnapshotParts, Status> {
    if core.api.program_note().is_null() && core.pipelines().current().is_some() {
        // The text of a program belongs to the process that runs it, and not every process keeps it.
        return Err(Status::failed_precondition(
            "the switch does not keep the text of its program, so it cannot be copied",
        ));
    }
    let place = place(core)?;
    let (sender, receiver) = mpsc::channel(PARTS_MAX);
    let (api, runtime) = (Arc::clone(&core.api), Handle::current());
    start_blocking(move || {
        let send = |message| {
            let sent = runtime.block_on(timeout(READER_TIMEOUT, sender.send(message)));
            sent.is_ok_and(|sent| sent.is_ok())
        };
        let mut sink = |record: &[u8]| {
            let mut parts = record.chunks(PART_BYTES_MAX).peekable();
            while let Some(bytes) = parts.next() {
                if !send(Ok(SnapshotPart { bytes: bytes.to_vec(), is_last: parts.peek().is_none() })) {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
            }
            Ok(())
        };
        if let Err(fault) = api.stream_snapshot(with_state, &mut sink) {
            // A client that has gone needs no error.
            let _sent = send(Err(status::of(fault)));
        }
    });
    Ok(Messages { receiver, _place: place, _watching: None })
}

/// Packets from now on.
pub(crate) async fn tap(core: &Core, request: TapRequest) -> Result<TapPackets, Status> {
    let place = place(core)?;
    let filter = filter(&request, core.api.program().architecture)?;
    let count = if request.count == 0 { u64::MAX } else { request.count };
    let (sender, receiver) = mpsc::channel(TAP_PACKETS_MAX);
    let mut missed = 0;
    let sink = move |arrival: Arrival<'_>| match sender.try_reserve() {
        Ok(room) => {
            let Arrival { port, time_ns, bytes } = arrival;
            room.send(Ok(TapPacket { port, packet: bytes.to_vec(), time_ns, missed }));
            Taken::Kept
        }
        Err(mpsc::error::TrySendError::Full(())) => {
            missed += 1;
            Taken::Full
        }
        Err(mpsc::error::TrySendError::Closed(())) => Taken::Closed,
    };
    let api = Arc::clone(&core.api);
    let tap = blocking(move || api.command_queue().ask(|switch| Arc::clone(switch.tap()))).await?;
    let tap = tap.map_err(|closed| Status::unavailable(closed.to_string()))?;
    let watching = tap.watch(filter, count, Box::new(sink));
    Ok(Messages { receiver, _place: place, _watching: Some(watching) })
}

/// An error for conditions that no packet can meet: whoever waits for such a packet would wait for ever.
fn filter(request: &TapRequest, architecture: &Architecture) -> Result<TapFilter, Status> {
    if request.ports.len().max(request.patterns.len()) > TAP_CONDITIONS_MAX {
        return Err(Status::invalid_argument(format!("a tap has at most {TAP_CONDITIONS_MAX} ports and patterns")));
    }
    if let Some(port) = request.ports.iter().find(|&&port| port > architecture.port_max) {
        let Architecture { name, port_max, .. } = architecture;
        let message = format!("there is no port {port}: the greatest port of {name} is {port_max}");
        return Err(Status::invalid_argument(message));
    }
    let end = |it: &TapPattern| it.offset.map(|offset| offset as usize + it.value.len());
    if let Some(end) = request.patterns.iter().filter_map(end).find(|&end| end > PACKET_BYTES_MAX) {
        let message = format!("no packet has {end} bytes: the longest has {PACKET_BYTES_MAX}");
        return Err(Status::invalid_argument(message));
    }
    let pattern = |TapPattern { value, mask, offset }: &TapPattern| {
        Pattern::new(value, mask, offset.map(|offset| offset as usize)).ok_or_else(|| {
            let message = format!("a pattern has from 1 to {PATTERN_BYTES_MAX} bytes, and a mask of as many");
            Status::invalid_argument(message)
        })
    };
    let patterns = request.patterns.iter().map(pattern).collect::<Result<_, Status>>()?;
    Ok(TapFilter { ports: request.ports.clone(), patterns })
}
