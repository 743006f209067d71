//! Frames over TCP, by hand, of both versions of IP.

/// A segment. Its headers are those of IPv6 or IPv4.
#[derive(Clone, Debug)]
pub struct Segment {
    pub is_v6: bool,
    /// (leaf, host) of both ends.
    pub from: (u8, u8),
    pub to: (u8, u8),
    pub ports: (u16, u16),
    pub traffic_class: u8,
    pub sequence: u32,
    pub acknowledgment: u32,
    pub flags: u8,
    pub window: u16,
    pub options: Vec<u8>,
    pub payload_bytes: usize,
}

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

impl Segment {
    /// Data of a short flow from host 1 of leaf 1 to host 1 of leaf 2.
    pub fn data(is_v6: bool) -> Segment {
        Segment {
            is_v6,
            from: (1, 1),
            to: (2, 1),
            ports: (10_000, 80),
            traffic_class: 0x08,
            sequence: 1_000_000,
            acknowledgment: 77,
            flags: ACK,
            window: 500,
            options: Vec::new(),
            payload_bytes: 100,
        }
    }

    /// The answer of its receiver, without payload.
    pub fn answer(&self) -> Segment {
        let (from, to, ports) = (self.to, self.from, (self.ports.1, self.ports.0));
        Segment { from, to, ports, traffic_class: 0, payload_bytes: 0, ..self.clone() }
    }

    fn addresses(&self) -> Vec<u8> {
        let v6 = |(leaf, host): (u8, u8)| [&[0xfd, 0, 0, leaf, 0, host][..], &[0; 9], &[2]].concat();
        let v4 = |(leaf, host): (u8, u8)| vec![10, leaf, host, 2];
        if self.is_v6 { [v6(self.from), v6(self.to)].concat() } else { [v4(self.from), v4(self.to)].concat() }
    }

    /// The frame, with right checksums.
    pub fn frame(&self) -> Vec<u8> {
        let words = 5 + self.options.len() / 4;
        let mut tcp = Vec::new();
        tcp.extend(self.ports.0.to_be_bytes());
        tcp.extend(self.ports.1.to_be_bytes());
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.acknowledgment.to_be_bytes());
        tcp.extend([(words << 4) as u8, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&self.options);
        tcp.extend((0..self.payload_bytes).map(|byte| byte as u8));
        let sum = checksum(&self.pseudo(&tcp));
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];
        if self.is_v6 {
            frame.extend([0x86, 0xdd, 0x60 | self.traffic_class >> 4, self.traffic_class << 4, 0, 0]);
            frame.extend((tcp.len() as u16).to_be_bytes());
            frame.extend([6, 64]);
            frame.extend(self.addresses());
        } else {
            frame.extend([0x08, 0x00]);
            let mut header = vec![0x45, self.traffic_class];
            header.extend((20 + tcp.len() as u16).to_be_bytes());
            header.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
            header.extend(self.addresses());
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            frame.extend(header);
        }
        frame.extend(tcp);
        frame
    }

    fn pseudo(&self, tcp: &[u8]) -> Vec<u8> {
        let length = tcp.len() as u16;
        let mut bytes = self.addresses();
        match self.is_v6 {
            true => bytes.extend([0, 0, (length >> 8) as u8, length as u8, 0, 0, 0, 6]),
            false => bytes.extend([0, 6, (length >> 8) as u8, length as u8]),
        }
        bytes.extend(tcp);
        bytes
    }
}

/// What a frame with TCP says, whose checksums and lengths must be right.
pub fn parse(frame: &[u8]) -> Segment {
    let is_v6 = frame[12..14] == [0x86, 0xdd];
    let (header, tcp) = if is_v6 { (&frame[14..54], &frame[54..]) } else { (&frame[14..34], &frame[34..]) };
    let host = |bytes: &[u8]| if is_v6 { (bytes[3], bytes[5]) } else { (bytes[1], bytes[2]) };
    let (from, to) = if is_v6 { (&header[8..24], &header[24..40]) } else { (&header[12..16], &header[16..20]) };
    let length = if is_v6 { be16(&header[4..]) } else { be16(&header[2..]) - 20 };
    assert_eq!(usize::from(length), tcp.len(), "the length is that of the frame");
    if !is_v6 {
        assert_eq!(checksum(header), 0, "the checksum of IPv4");
    }
    let options = tcp[20..usize::from(tcp[12] >> 4) * 4].to_vec();
    Segment {
        is_v6,
        from: host(from),
        to: host(to),
        ports: (be16(tcp), be16(&tcp[2..])),
        traffic_class: if is_v6 { header[0] << 4 | header[1] >> 4 } else { header[1] },
        sequence: be32(&tcp[4..]),
        acknowledgment: be32(&tcp[8..]),
        flags: tcp[13],
        window: be16(&tcp[14..]),
        payload_bytes: tcp.len() - 20 - options.len(),
        options,
    }
}

/// Whether the checksum of TCP is right.
pub fn has_right_checksum(frame: &[u8]) -> bool {
    let segment = parse(frame);
    let tcp = if segment.is_v6 { &frame[54..] } else { &frame[34..] };
    checksum(&segment.pseudo(tcp)) == 0
}

fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The checksum of the Internet.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
