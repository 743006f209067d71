//! The limit: what the example router does for IPv4 packets without options, written by hand for nothing else.
//!
//! It checks the same things in the same order (length, version, checksum, TTL), looks the destination up in a table
//! with an entry per /24 (no route of the benchmark is longer), rewrites the Ethernet addresses, TTL and checksum, and
//! hands the packet to a sink. No architecture, no metadata, no queues, no counters.

use live::traffic::Routes;

/// A router for prefixes of up to 24 bits.
pub struct Router {
    /// Next hop by the upper 24 bits of the destination; 0 for none.
    next_hops: Vec<u8>,
    buffer: [u8; 2048],
}

impl Router {
    /// A router with these routes.
    pub fn new(routes: &Routes) -> Router {
        let mut next_hops = vec![0; 1 << 24];
        let mut sorted = routes.0.clone();
        sorted.sort_by_key(|route| route.prefix_len);
        for route in sorted {
            let first = (route.network >> 8) as usize;
            next_hops[first..first + (1 << (24 - route.prefix_len))].fill(route.port as u8);
        }
        Router { next_hops, buffer: [0; 2048] }
    }

    /// Routes a packet; the sink gets port and frame. False if it was dropped.
    #[inline(never)]
    pub fn route(&mut self, frame: &[u8], sink: &mut dyn FnMut(u32, &[u8])) -> bool {
        // The switch copies a received frame into its buffer; so does this.
        let Some(packet) = self.buffer.get_mut(..frame.len()) else { return false };
        packet.copy_from_slice(frame);
        let Some((header, _)) = packet.split_at_mut_checked(34) else { return false };
        let is_plain_ipv4 = header[12..14] == [8, 0] && header[14] == 0x45;
        if !is_plain_ipv4 || checksum(&header[14..34]) != 0 || header[22] <= 1 || header[0] & 1 == 1 {
            return false;
        }
        let destination = u32::from_be_bytes([header[30], header[31], header[32], header[33]]);
        let port = self.next_hops[(destination >> 8) as usize];
        if port == 0 {
            return false;
        }
        header[0..6].copy_from_slice(&[2, 0, 0, 0, 1, port]);
        header[6..12].copy_from_slice(&[2, 0, 0, 0, 0, port]);
        header[22] -= 1;
        header[24..26].fill(0);
        let sum = checksum(&header[14..34]);
        header[24..26].copy_from_slice(&sum.to_be_bytes());
        sink(u32::from(port), packet);
        true
    }
}

/// RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(4).map(|it| u64::from(u32::from_be_bytes([it[0], it[1], it[2], it[3]])));
    let sum: u64 = words.sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}
