//! A controller's stream: bids, packets and acknowledgements in one direction; messages of its outbox in the other.

use crate::arbitration::{self, RoleName, SessionId, describe};
use crate::connections::Client;
use crate::outbox::{Outbox, Outgoing, Posted};
use crate::packet_io;
use crate::role_config::RoleConfig;
use crate::service::{Core, Hub};
use crate::status;
use crate::tasks;
use control::api::{Code as FaultCode, Fault};
use p4runtime_proto::codec::BUDGET;
use p4runtime_proto::p4::v1;
use p4runtime_proto::p4::v1::stream_message_request::Update as Sent;
use p4runtime_proto::p4::v1::stream_message_response::Update as Answer;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tonic::{Code, Status, Streaming};

/// How long a stream may be open without a bid.
const BID_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a bid waits for the end of a conflicting stream.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a stream: messages are handled until either side ends it.
pub(crate) fn open(core: Arc<Core>, client: Client, incoming: Streaming<v1::StreamMessageRequest>) -> Outgoing {
    let (outbox, outgoing) = Outbox::new(core.losses.clone());
    let session = {
        let mut hub = core.hub();
        hub.last_session += 1;
        SessionId(hub.last_session)
    };
    let work = async move {
        let mut stream = Stream { core, client, session, outbox, role: None, has_bid: false };
        let end = stream.run(incoming).await;
        stream.leave();
        stream.outbox.end(end);
    };
    // Messages are decoded in the new task, which does not have the request's task-local values.
    match BUDGET.try_with(Arc::clone) {
        Ok(budget) => tasks::spawn(BUDGET.scope(budget, work)),
        Err(_) => tasks::spawn(work),
    }
    outgoing
}

/// A message of a response.
pub(crate) fn message(update: Answer) -> v1::StreamMessageResponse {
    v1::StreamMessageResponse { update: Some(update) }
}

struct Stream {
    core: Arc<Core>,
    /// The connection that it is of.
    client: Client,
    session: SessionId,
    outbox: Outbox,
    /// Its present role.
    role: Option<RoleName>,
    /// Whether it has bid with an election id, rather than only asked who is primary.
    has_bid: bool,
}

impl Stream {
    /// Handles messages until one ends the stream, with that error.
    async fn run(&mut self, mut incoming: Streaming<v1::StreamMessageRequest>) -> Option<Status> {
        let closed = self.outbox.clone();
        let opened = tokio::time::Instant::now();
        loop {
            let received = tokio::select! {
                received = incoming.message() => received,
                () = closed.closed() => return None,
                () = tokio::time::sleep_until(opened + BID_TIMEOUT), if self.role.is_none() => {
                    let seconds = BID_TIMEOUT.as_secs();
                    let message = format!("no arbitration message for {seconds} seconds: a stream must begin with one");
                    return Some(Status::deadline_exceeded(message));
                }
            };
            match received {
                Ok(Some(sent)) => {
                    if let Err(end) = self.receive(sent).await {
                        return Some(end);
                    }
                }
                // The controller has closed its direction.
                Ok(None) => return None,
                // The message is invalid or too long, or the controller is gone and does not see the error.
                Err(refused) => return Some(refused),
            }
        }
    }

    async fn receive(&mut self, sent: v1::StreamMessageRequest) -> Result<(), Status> {
        match sent.update {
            Some(Sent::Arbitration(bid)) => return self.bid(bid).await,
            Some(Sent::Packet(packet)) => {
                if let Err(fault) = self.packet_out(&packet).await {
                    let details = v1::PacketOutError { packet_out: Some(packet) };
                    self.refuse(fault, v1::stream_error::Details::PacketOut(details));
                }
            }
            Some(Sent::DigestAck(ack)) => {
                if let Err(fault) = self.acknowledge(ack) {
                    let details = v1::DigestListAckError { digest_list_ack: Some(ack) };
                    self.refuse(fault, v1::stream_error::Details::DigestListAck(details));
                }
            }
            Some(Sent::Other(other)) => {
                let fault = Fault::new(FaultCode::Unimplemented, "messages of other architectures are not supported");
                let details = v1::StreamOtherError { other: Some(other) };
                self.refuse(fault, v1::stream_error::Details::Other(details));
            }
            None => {
                let fault = Fault::invalid("the message is empty");
                self.refuse(fault, v1::stream_error::Details::Other(v1::StreamOtherError::default()));
            }
        }
        Ok(())
    }

    fn refuse(&self, fault: Fault, details: v1::stream_error::Details) {
        let error = v1::StreamError {
            canonical_code: status::code(fault.code) as i32,
            message: fault.message,
            details: Some(details),
            ..v1::StreamError::default()
        };
        // The error may be lost: a controller that sends invalid messages without reading gets no memory for it.
        self.outbox.post(message(Answer::Error(error)), Instant::now(), None);
    }

    // --------------------------------------------------------------------------------------------- arbitration

    async fn bid(&mut self, bid: v1::MasterArbitrationUpdate) -> Result<(), Status> {
        if bid.device_id != self.core.device_id {
            let message = format!("there is no device {}: this is device {}", bid.device_id, self.core.device_id);
            let code = if self.role.is_some() { Code::FailedPrecondition } else { Code::NotFound };
            return Err(Status::new(code, message));
        }
        let sent = bid.role.unwrap_or_default();
        let config = sent.config.as_ref().map(RoleConfig::read).transpose().map_err(Status::invalid_argument)?;
        let id = if sent.name.is_empty() { sent.id } else { 0 };
        let role = RoleName { name: sent.name, id };
        let election_id = arbitration::election_id(bid.election_id.as_ref());
        let (outcome, before) = self.arbitrate(&role, election_id, config).await?;
        self.role = Some(role.clone());
        let is_first = !self.has_bid && election_id.is_some();
        self.has_bid |= is_first;
        log_bid(&role, election_id.unwrap_or_default(), is_first, outcome.new_primary);
        let (mut others, mut last) = (outcome.notices, Vec::new());
        if outcome.new_primary {
            last = others.split_off(others.len().saturating_sub(1));
        }
        self.send_notices(&role, &others);
        if outcome.new_primary {
            // Writes of the previous primary end before the new one is notified.
            drop(self.core.turn.read().await);
            self.core.digests().forget_sent();
        }
        self.send_notices(&role, &last);
        self.show_change(&role, before);
        Ok(())
    }

    /// The effects of a bid, and the previous primary. A conflicting stream may be the controller's own previous one,
    /// which is ending: the bid waits for that for a limited time.
    async fn arbitrate(
        &self,
        role: &RoleName,
        election_id: Option<u128>,
        config: Option<RoleConfig>,
    ) -> Result<(arbitration::BidEffects, (Option<u128>, bool)), Status> {
        let deadline = tokio::time::Instant::now() + CLOSING_TIMEOUT;
        loop {
            let mut left = std::pin::pin!(self.core.left.notified());
            // No stream that ends from here on is missed.
            left.as_mut().enable();
            let refusal = {
                let mut hub = self.core.hub();
                let before = hub.arbitration.highest(role);
                let mut outcome = self.bid_once(&mut hub, role, election_id, config.clone());
                if outcome.as_ref().is_err_and(|refusal| refusal.is_full) && hub.make_room(role, election_id) {
                    outcome = self.bid_once(&mut hub, role, election_id, config.clone());
                }
                match outcome {
                    Ok(outcome) => {
                        hub.sessions.insert(self.session, self.outbox.clone());
                        hub.clients.insert(self.session, self.client.clone());
                        hub.mark_primaries();
                        return Ok((outcome, before));
                    }
                    Err(refusal) => refusal,
                }
            };
            if !refusal.may_pass || tokio::time::timeout_at(deadline, left).await.is_err() {
                return Err(Status::new(refusal.code, refusal.message));
            }
        }
    }

    fn bid_once(
        &self,
        hub: &mut Hub,
        role: &RoleName,
        election_id: Option<u128>,
        config: Option<RoleConfig>,
    ) -> Result<arbitration::BidEffects, arbitration::Refusal> {
        hub.arbitration.bid(self.session, self.role.as_ref(), role, election_id, config, Instant::now())
    }

    /// Shows watchers who is primary, if that has changed.
    fn show_change(&self, role: &RoleName, before: (Option<u128>, bool)) {
        let after = self.core.hub().arbitration.highest(role);
        if after != before {
            let update = arbitration::news(self.core.device_id, role, after);
            self.core.watchers.show(&Answer::Arbitration(update));
        }
    }

    fn send_notices(&self, role: &RoleName, notices: &[arbitration::Notice]) {
        let hub = self.core.hub();
        for notice in notices {
            let update = arbitration::message(self.core.device_id, role, notice);
            let Some(outbox) = hub.sessions.get(&notice.session) else { continue };
            if outbox.post_urgent(message(Answer::Arbitration(update))) == Posted::Closed {
                tracing::warn!("a controller that does not read has been disconnected");
            }
        }
    }

    fn leave(&mut self) {
        let Some(role) = self.role.take() else { return };
        let (notices, before) = {
            let mut hub = self.core.hub();
            let before = hub.arbitration.highest(&role);
            hub.sessions.remove(&self.session);
            let was_primary = hub.arbitration.leads(&role, self.session);
            if was_primary {
                tracing::info!("the primary controller of {} has disconnected", describe(&role));
            } else if self.has_bid {
                tracing::info!("a controller of {} has disconnected", describe(&role));
            }
            let notices = hub.arbitration.leave(self.session, &role, Instant::now());
            hub.clients.remove(&self.session);
            self.client.set_primary(false);
            hub.mark_primaries();
            (notices, before)
        };
        self.core.left.notify_waiters();
        self.send_notices(&role, &notices);
        self.show_change(&role, before);
    }

    fn check_primary(&self, what: &str) -> Result<(), Fault> {
        let leads = self.role.as_ref().is_some_and(|role| self.core.hub().arbitration.leads(role, self.session));
        match leads {
            true => Ok(()),
            false => {
                let message = format!("only the primary controller may {what}");
                Err(Fault::new(FaultCode::PermissionDenied, message))
            }
        }
    }

    // -------------------------------------------------------------------------------------------- other messages

    async fn packet_out(&self, packet: &v1::PacketOut) -> Result<(), Fault> {
        self.check_primary("send packets")?;
        let precondition = |message| Fault::new(FaultCode::FailedPrecondition, message);
        let target = self.core.pipelines().current();
        let target = target.ok_or_else(|| precondition("no program runs yet: packets have nowhere to go"))?;
        if self.core.ports.cpu().of(target.schema.program.architecture).is_none() {
            return Err(precondition("the switch has no CPU port: start it with --cpu-port"));
        }
        let frame = packet_io::frame(&target.schema, packet)?;
        // Waits while the switch has many already; the controller then waits, too.
        let sent = self.core.packets_out.send(frame).await;
        sent.map_err(|_| Fault::new(FaultCode::Unavailable, "the switch is ending"))
    }

    fn acknowledge(&self, ack: v1::DigestListAck) -> Result<(), Fault> {
        self.check_primary("acknowledge digests")?;
        let target = self.core.pipelines().current();
        let target = target.ok_or_else(|| Fault::new(FaultCode::FailedPrecondition, "no program runs yet"))?;
        if target.schema.model.digest(ack.digest_id).is_none() {
            return Err(target.schema.unknown(p4info::Kind::Digest, ack.digest_id));
        }
        // An unknown list was remembered for long enough.
        self.core.digests().acknowledge(ack.digest_id, ack.list_id);
        Ok(())
    }
}

fn log_bid(role: &RoleName, id: u128, is_first: bool, is_new_primary: bool) {
    let role = describe(role);
    match (is_first, is_new_primary) {
        (true, true) => tracing::info!("a controller with election id {id} has connected and is primary of {role}"),
        (true, false) => tracing::info!("a controller with election id {id} has connected for {role}"),
        (false, true) => tracing::info!("the controller with election id {id} is primary of {role}"),
        (false, false) => {}
    }
}
