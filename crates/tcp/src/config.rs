//! The settings of an endpoint.
//!
//! The defaults are those of Linux 6 where it has a corresponding setting, so that results can be compared with it;
//! each field names the source. `docs/design/tcp.md` lists where ns-3 differs.

use base::Time;

/// The congestion control of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congestion {
    /// RFC 5681.
    NewReno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257.
    Dctcp,
}

impl Congestion {
    /// All of them.
    pub const ALL: [Congestion; 3] = [Congestion::NewReno, Congestion::Cubic, Congestion::Dctcp];

    /// The name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Congestion::NewReno => "newreno",
            Congestion::Cubic => "cubic",
            Congestion::Dctcp => "dctcp",
        }
    }
}

/// Settings of an endpoint. They do not change during a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The most bytes of payload and TCP options in a segment that this host receives and sends: the MTU without the IP
    /// header and 20 bytes of TCP header. 1460: IPv4 over Ethernet.
    pub mss: u16,
    /// The initial congestion window in segments. 10: RFC 6928; Linux's `TCP_INIT_CWND`, which like this one has no cap
    /// in bytes.
    pub initial_window_segments: u32,
    /// The congestion control. CUBIC: Linux's `tcp_congestion_control`.
    pub congestion: Congestion,
    /// Whether to negotiate ECN. A listener accepts it too if this is set. False: Linux's `tcp_ecn` 2 does not request
    /// it, and a simulation has no unknown peers that would. DCTCP always negotiates ECN, as in Linux.
    pub ecn: bool,
    /// Selective acknowledgments (RFC 2018, 2883, 6675). True: Linux's `tcp_sack` and `tcp_dsack`.
    pub sack: bool,
    /// Time stamps (RFC 7323). True: Linux's `tcp_timestamps`.
    pub timestamps: bool,
    /// Window scaling (RFC 7323). True: Linux's `tcp_window_scaling`.
    pub window_scaling: bool,
    /// Loss detection by time and tail loss probes (RFC 8985) where SACK is in use. True: Linux's `tcp_recovery` 1 and
    /// `tcp_early_retrans` 3. Otherwise RFC 6675 counts, and without SACK RFC 6582.
    pub rack: bool,
    /// Proportional rate reduction (RFC 6937) during recovery. True: Linux always does this. Otherwise the window falls
    /// at once.
    pub prr: bool,
    /// Undoes a reduction that proves unnecessary (RFC 3522, RFC 3708). True: as Linux.
    pub undo: bool,
    /// Ends CUBIC's initial slow start when round trips become longer (HyStart++, RFC 9406). True: Linux's `hystart`,
    /// from which it comes.
    pub hystart: bool,
    /// Nagle's algorithm (RFC 9293, section 3.7.4). True: Linux without `TCP_NODELAY`.
    pub nagle: bool,
    /// Returns to the initial window after idle periods (RFC 5681, section 4.1). True: Linux's
    /// `tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// The most received bytes that are buffered until the application reads them. 3 MiB: the most that Linux announces
    /// with a `tcp_rmem` of 6 MiB. Linux grows into it; this buffer has its size from the start.
    pub receive_buffer_bytes: u64,
    /// The most bytes that are buffered until they are acknowledged. 4 MiB: Linux's `tcp_wmem`.
    pub send_buffer_bytes: u64,
    /// The longest delay of an acknowledgment; zero acknowledges each segment. 40 ms: Linux's `TCP_DELACK_MIN`.
    pub delayed_ack: Time,
    /// How many acknowledgments at the start of a connection and after each loss are not delayed. 16: Linux's
    /// `TCP_MAX_QUICKACKS`.
    pub quick_acks: u8,
    /// The smallest retransmission timeout. 200 ms: Linux's `TCP_RTO_MIN`; RFC 6298 recommends 1 s.
    pub min_rto: Time,
    /// The least distance between the smoothed round-trip time and the timeout, RFC 6298's *G*. 200 ms: Linux uses
    /// `TCP_RTO_MIN` here, too.
    pub min_rto_variance: Time,
    /// The greatest retransmission timeout. 120 s: Linux's `TCP_RTO_MAX`.
    pub max_rto: Time,
    /// The timeout before the first measurement. 1 s: RFC 6298; Linux's `TCP_TIMEOUT_INIT`.
    pub initial_rto: Time,
    /// The longest delay of acknowledgments that tail loss probes expect of the peer. 200 ms: RFC 8985, section 7.2,
    /// and Linux.
    pub max_ack_delay: Time,
    /// Timeouts in sequence after which the connection is given up. 15: Linux's `tcp_retries2`.
    pub retries: u8,
    /// The same for SYN. 6: Linux's `tcp_syn_retries`.
    pub syn_retries: u8,
    /// How long TIME-WAIT lasts. 60 s: Linux's `TCP_TIMEWAIT_LEN`.
    pub time_wait: Time,
    /// The most ranges in which a sender remembers what is acknowledged, lost or in flight, and a receiver what is
    /// missing. It bounds the memory of a connection (16 bytes a range in a receiver, 32 in a sender): what does not
    /// fit is treated as not received. 128: chosen here.
    pub ranges: u16,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mss: 1460,
            initial_window_segments: 10,
            congestion: Congestion::Cubic,
            ecn: false,
            sack: true,
            timestamps: true,
            window_scaling: true,
            rack: true,
            prr: true,
            undo: true,
            hystart: true,
            nagle: true,
            slow_start_after_idle: true,
            receive_buffer_bytes: 3 << 20,
            send_buffer_bytes: 4 << 20,
            delayed_ack: Time::from_ms(40),
            quick_acks: 16,
            min_rto: Time::from_ms(200),
            min_rto_variance: Time::from_ms(200),
            max_rto: Time::from_s(120),
            initial_rto: Time::from_s(1),
            max_ack_delay: Time::from_ms(200),
            retries: 15,
            syn_retries: 6,
            time_wait: Time::from_s(60),
            ranges: 128,
        }
    }
}

/// The least MSS that is used: a peer that announces less would make this sender flood the network with headers. RFC
/// 9293 has no lower bound; Linux's `TCP_MIN_SND_MSS` is 48 with 40 bytes of options.
pub(crate) const MSS_MIN: u32 = 48;

/// The MSS of a peer that announces none (RFC 9293, section 3.7.1).
pub(crate) const MSS_DEFAULT: u16 = 536;

/// The greatest shift of windows (RFC 7323, section 2.3).
pub(crate) const WINDOW_SCALE_MAX: u8 = 14;

impl Config {
    /// Whether ECN is negotiated.
    pub(crate) fn negotiates_ecn(&self) -> bool {
        self.ecn || self.congestion == Congestion::Dctcp
    }

    /// The shift with which the whole receive buffer can be announced.
    pub(crate) fn window_scale(&self) -> u8 {
        let fits = |shift: &u8| self.receive_buffer_bytes >> shift <= 0xffff;
        (0..WINDOW_SCALE_MAX).find(fits).unwrap_or(WINDOW_SCALE_MAX)
    }
}
