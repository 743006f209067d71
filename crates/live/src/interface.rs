//! Interfaces of Linux: their properties and features, and the packet sockets that access them.
//!
//! Each system call is behind a safe function. A [`Socket`] stays in the network namespace in which it was created,
//! whichever namespace its thread enters; so do its requests about interfaces.
#![allow(unsafe_code, reason = "sockets, their options and interface requests are reached through libc")]

use crate::counters::PortCounters;
use crate::driver::DriverError;

use std::ffi::{CStr, CString};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// The names of all interfaces, in the system's order.
pub fn interface_names() -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: the call has no arguments; its result is an array that ends with an index of 0, or null.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return names;
    }
    let mut entry = list;
    // SAFETY: `entry` stays within the array, since the loop ends at the entry whose index is 0; until then each name
    // is a C string. The array is released once and not used after.
    unsafe {
        while (*entry).if_index != 0 {
            names.push(CStr::from_ptr((*entry).if_name).to_string_lossy().into_owned());
            entry = entry.add(1);
        }
        libc::if_freenameindex(list);
    }
    names
}

/// The index of the interface of this name.
pub fn interface_index(name: &str) -> Option<i32> {
    let name = CString::new(name).ok()?;
    // SAFETY: `name` is a C string that lives through the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    i32::try_from(index).ok().filter(|index| *index > 0)
}

fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

fn check_size(answer: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Bytes of the Ethernet header.
pub const ETHERNET_BYTES: usize = 14;
/// Bytes of a VLAN tag.
pub const VLAN_TAG_BYTES: usize = 4;

/// Hardware types that carry Ethernet frames: Ethernet itself, and the loopback interface.
const HARDWARE_TYPES: [u16; 2] = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK];

/// Requests of `SIOCETHTOOL`.
const ETHTOOL_GET_DRIVER: u32 = 0x03;
const ETHTOOL_GET_FLAGS: u32 = 0x25;
const ETHTOOL_GET_CHANNELS: u32 = 0x3c;
/// The flag of an interface that removes VLAN tags from received frames.
const ETHTOOL_FLAG_RX_VLAN: u32 = 1 << 8;

/// An interface that can be a port.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number in its namespace.
    pub index: i32,
    /// The longest packet that it carries, in bytes after the Ethernet header.
    pub mtu: usize,
}

impl Interface {
    /// Finds an interface; refuses one that does not exist, is down, or does not carry Ethernet frames.
    /// `capabilities` are what its user needs, for the message. The socket is not bound yet.
    pub fn open(name: &str, capabilities: &'static str) -> Result<(Interface, Socket), DriverError> {
        let owned = || name.to_owned();
        let failed = |doing: &str, error: io::Error| refusal(name, capabilities, doing, error);
        let Some(index) = interface_index(name) else {
            return Err(DriverError::NoSuchInterface { name: owned(), existing: interface_names() });
        };
        let socket = Socket::new().map_err(|error| failed("open", error))?;
        let hardware_type = socket.hardware_type(name).map_err(|error| failed("query", error))?;
        if !HARDWARE_TYPES.contains(&hardware_type) {
            return Err(DriverError::NotEthernet { name: owned(), hardware_type });
        }
        if !socket.is_up(name).map_err(|error| failed("query", error))? {
            return Err(DriverError::InterfaceDown { name: owned() });
        }
        let mtu = socket.mtu(name).map_err(|error| failed("query", error))?;
        Ok((Interface { name: owned(), index, mtu }, socket))
    }

    /// The longest frame without a VLAN tag.
    pub fn frame_bytes_max(&self) -> usize {
        self.mtu + ETHERNET_BYTES
    }

    /// Whether the interface accepts a frame of this length; counts the drop if not. As in the kernel, a VLAN tag
    /// does not count.
    pub fn takes(&self, frame: &[u8], counters: &PortCounters) -> bool {
        if frame.len() < ETHERNET_BYTES {
            counters.tx_dropped_too_short.add(1);
            return false;
        }
        let tagged = frame[12..14] == [0x81, 0];
        if frame.len() > self.frame_bytes_max() + if tagged { VLAN_TAG_BYTES } else { 0 } {
            counters.tx_dropped_too_long.add(1);
            return false;
        }
        true
    }

    /// Follows a change of the MTU.
    pub fn refresh_mtu(&mut self, socket: &Socket) {
        if let Ok(mtu) = socket.mtu(&self.name) {
            self.mtu = mtu;
        }
    }
}

/// An error of the system with a remedy.
pub fn refusal(name: &str, capabilities: &'static str, doing: &str, error: io::Error) -> DriverError {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => DriverError::NoPermission { name: name.to_owned(), capabilities },
        _ => DriverError::system(format!("{doing} interface `{name}`"), error),
    }
}

/// The channels of an interface, in the form of `ethtool`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Channels {
    command: u32,
    rx_max: u32,
    tx_max: u32,
    other_max: u32,
    combined_max: u32,
    rx: u32,
    tx: u32,
    other: u32,
    combined: u32,
}

/// A number of an interface, in the form of `ethtool`.
#[repr(C)]
#[derive(Clone, Copy)]
struct EthtoolValue {
    command: u32,
    value: u32,
}

/// A type that a socket option may be: plain integers without padding or invalid values.
///
/// # Safety
/// Every bit pattern of the type must be a value, and it must have no padding.
pub unsafe trait OptionValue: Copy {}
// SAFETY: an integer.
unsafe impl OptionValue for libc::c_int {}
// SAFETY: four `c_uint` in a row.
unsafe impl OptionValue for libc::tpacket_req {}
// SAFETY: two `c_uint` in a row.
unsafe impl OptionValue for libc::tpacket_stats {}
// SAFETY: `int`, two `unsigned short` and 8 bytes: 16 bytes without padding.
unsafe impl OptionValue for libc::packet_mreq {}

/// A type that an `ethtool` command takes: as long as the command requires, any bytes of which are a value.
///
/// # Safety
/// The type must be the command's, whose number it begins with.
unsafe trait EthtoolArgument {}
// SAFETY: `struct ethtool_channels`, nine words.
unsafe impl EthtoolArgument for Channels {}
// SAFETY: `struct ethtool_value`, two words.
unsafe impl EthtoolArgument for EthtoolValue {}
// SAFETY: as long as `struct ethtool_drvinfo`, which is 196 bytes.
unsafe impl EthtoolArgument for [u32; 49] {}

/// A packet socket, which receives nothing until it is bound.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

impl Socket {
    /// A packet socket for whole frames.
    pub fn new() -> io::Result<Socket> {
        // SAFETY: the call takes no pointers; its result is a new descriptor without another owner.
        unsafe {
            let fd =
                check(libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0))?;
            Ok(Socket { fd: OwnedFd::from_raw_fd(fd) })
        }
    }

    /// The descriptor, for waiting and mapping.
    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Sets an option.
    pub fn set<T: OptionValue>(&self, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
        let size = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and the size describe `value`.
        check(unsafe { libc::setsockopt(self.raw(), level, name, ptr::from_ref(value).cast(), size) }).map(|_| ())
    }

    /// Reads an option into `value`.
    pub fn get<T: OptionValue>(&self, level: libc::c_int, name: libc::c_int, value: &mut T) -> io::Result<()> {
        let mut size = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and the size describe `value`, any bytes of which are a value of its type.
        check(unsafe { libc::getsockopt(self.raw(), level, name, ptr::from_mut(value).cast(), &raw mut size) })
            .map(|_| ())
    }

    /// Binds to an interface. A socket that has had protocol 0 only sends there and receives nothing.
    pub fn bind(&self, interface_index: i32, protocol: u16) -> io::Result<()> {
        // SAFETY: an address of all zeros is a value of its type.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol.to_be();
        address.sll_ifindex = interface_index;
        let size = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer and the size describe `address`.
        check(unsafe { libc::bind(self.raw(), (&raw const address).cast(), size) }).map(|_| ())
    }

    /// Receives one packet without waiting; returns its whole length, which may exceed the buffer.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the pointer and the length describe `buffer`.
        check_size(unsafe { libc::recv(self.raw(), buffer.as_mut_ptr().cast(), buffer.len(), flags) })
    }

    /// Sends one frame without waiting.
    pub fn send(&self, frame: &[u8]) -> io::Result<usize> {
        // SAFETY: the pointer and the length describe `frame`.
        check_size(unsafe { libc::send(self.raw(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) })
    }

    /// Makes the kernel send what is in the transmit ring, without waiting.
    pub fn send_ring(&self) -> io::Result<usize> {
        // SAFETY: no bytes are passed, so that the pointer is not followed.
        check_size(unsafe { libc::send(self.raw(), ptr::null(), 0, libc::MSG_DONTWAIT) })
    }

    /// The longest packet that the interface carries, in bytes after the Ethernet header.
    pub fn mtu(&self, name: &str) -> io::Result<usize> {
        let request = self.interface_request(name, libc::SIOCGIFMTU as libc::Ioctl)?;
        // SAFETY: the request succeeded, so that the kernel has set this member.
        let mtu = unsafe { request.ifr_ifru.ifru_mtu };
        Ok(usize::try_from(mtu).unwrap_or(0))
    }

    /// Whether an interface has this index in the socket's namespace: the thread may be in another one by now.
    pub fn interface_exists(&self, index: i32) -> bool {
        // SAFETY: a request of all zeros is a value of its type.
        let mut argument: libc::ifreq = unsafe { mem::zeroed() };
        argument.ifr_ifru.ifru_ifindex = index;
        // SAFETY: the request reads the index from an `ifreq` and writes the name into it.
        let answer = unsafe { libc::ioctl(self.raw(), libc::SIOCGIFNAME as libc::Ioctl, &raw mut argument) };
        check(answer).is_ok()
    }

    /// True if the interface is up.
    pub fn is_up(&self, name: &str) -> io::Result<bool> {
        Ok(self.flags(name)? & libc::IFF_UP != 0)
    }

    /// Brings the interface up.
    pub fn bring_up(&self, name: &str) -> io::Result<()> {
        let mut argument = Socket::named_request(name)?;
        argument.ifr_ifru.ifru_flags = self.flags(name)? as libc::c_short | libc::IFF_UP as libc::c_short;
        // SAFETY: the request reads the name and the flags from an `ifreq`.
        check(unsafe { libc::ioctl(self.raw(), libc::SIOCSIFFLAGS as libc::Ioctl, &raw const argument) }).map(|_| ())
    }

    /// True if the interface is up, has a carrier, and the kernel sends on it.
    pub fn is_running(&self, name: &str) -> io::Result<bool> {
        Ok(self.flags(name)? & libc::IFF_RUNNING != 0)
    }

    fn flags(&self, name: &str) -> io::Result<libc::c_int> {
        let request = self.interface_request(name, libc::SIOCGIFFLAGS as libc::Ioctl)?;
        // SAFETY: the request succeeded, so that the kernel has set this member.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        Ok(libc::c_int::from(flags))
    }

    /// The interface's hardware type, one of the `ARPHRD_` numbers.
    pub fn hardware_type(&self, name: &str) -> io::Result<u16> {
        let request = self.interface_request(name, libc::SIOCGIFHWADDR as libc::Ioctl)?;
        // SAFETY: the request succeeded, so that the kernel has set this member.
        Ok(unsafe { request.ifr_ifru.ifru_hwaddr.sa_family })
    }

    /// Keeps the interface in promiscuous mode as long as the socket exists.
    pub fn set_promiscuous(&self, interface_index: i32) -> io::Result<()> {
        let promiscuous = libc::packet_mreq {
            mr_ifindex: interface_index,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)
    }

    /// The number of the interface's receive queues; one if it does not report it.
    pub fn rx_queues(&self, name: &str) -> u32 {
        let mut channels = Channels { command: ETHTOOL_GET_CHANNELS, ..Channels::default() };
        match self.ethtool(name, &mut channels) {
            Ok(()) => (channels.rx + channels.combined).max(1),
            Err(_) => 1,
        }
    }

    /// Whether the interface removes VLAN tags from received frames.
    pub fn takes_tags_out(&self, name: &str) -> bool {
        let mut flags = EthtoolValue { command: ETHTOOL_GET_FLAGS, value: 0 };
        self.ethtool(name, &mut flags).is_ok() && flags.value & ETHTOOL_FLAG_RX_VLAN != 0
    }

    /// The name of the kernel's driver of the interface, as `veth` or `ixgbe`; empty if it is not reported.
    pub fn kernel_driver(&self, name: &str) -> String {
        // The structure that the kernel fills in: a command, names of 32 bytes each, and numbers.
        let mut information = [0u32; 49];
        information[0] = ETHTOOL_GET_DRIVER;
        if self.ethtool(name, &mut information).is_err() {
            return String::new();
        }
        let bytes: Vec<u8> = information[1..9].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// Sends a request to an interface's driver. `value` begins with the command and is the command's structure.
    fn ethtool<T: EthtoolArgument>(&self, name: &str, value: &mut T) -> io::Result<()> {
        let mut argument = Socket::named_request(name)?;
        argument.ifr_ifru.ifru_data = ptr::from_mut(value).cast();
        // SAFETY: the request reads the name and the pointer from an `ifreq`; what the pointer leads to lives through
        // the call and is as long as its command requires, which its type promises.
        check(unsafe { libc::ioctl(self.raw(), libc::SIOCETHTOOL as libc::Ioctl, &raw mut argument) }).map(|_| ())
    }

    fn named_request(name: &str) -> io::Result<libc::ifreq> {
        // SAFETY: a request of all zeros is a value of its type.
        let mut argument: libc::ifreq = unsafe { mem::zeroed() };
        if name.len() >= argument.ifr_name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        for (slot, byte) in argument.ifr_name.iter_mut().zip(name.bytes()) {
            *slot = byte as libc::c_char;
        }
        Ok(argument)
    }

    fn interface_request(&self, name: &str, request: libc::Ioctl) -> io::Result<libc::ifreq> {
        let mut argument = Socket::named_request(name)?;
        // SAFETY: each request passed here reads the name from an `ifreq` and writes one member of its union.
        check(unsafe { libc::ioctl(self.raw(), request, &raw mut argument) })?;
        Ok(argument)
    }
}
