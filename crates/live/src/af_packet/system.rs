//! The system calls that packet sockets need, each behind a function that cannot be misused.
#![allow(unsafe_code, reason = "sockets, their options and interface requests are reached through libc")]

use std::ffi::{CStr, CString};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// The names of all interfaces, as the system orders them.
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

/// A packet socket that is not bound yet receives nothing.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

impl Socket {
    /// A packet socket for whole frames.
    pub fn new() -> io::Result<Socket> {
        // SAFETY: the call takes no pointers; its result is a new descriptor that nobody else owns.
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

    /// Has the kernel send what stands in the transmit ring, without waiting.
    pub fn send_ring(&self) -> io::Result<usize> {
        // SAFETY: no bytes are passed, so that the pointer is not followed.
        check_size(unsafe { libc::send(self.raw(), ptr::null(), 0, libc::MSG_DONTWAIT) })
    }

    /// The longest packet that the interface carries, in bytes behind the Ethernet header.
    pub fn mtu(&self, name: &str) -> io::Result<usize> {
        let request = self.interface_request(name, libc::SIOCGIFMTU as libc::Ioctl)?;
        // SAFETY: the request succeeded, so that the kernel has set this member.
        let mtu = unsafe { request.ifr_ifru.ifru_mtu };
        Ok(usize::try_from(mtu).unwrap_or(0))
    }

    /// True if an interface has this index, where the socket is: the thread may be in another namespace by now.
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

    fn interface_request(&self, name: &str, request: libc::Ioctl) -> io::Result<libc::ifreq> {
        // SAFETY: a request of all zeros is a value of its type.
        let mut argument: libc::ifreq = unsafe { mem::zeroed() };
        if name.len() >= argument.ifr_name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        for (slot, byte) in argument.ifr_name.iter_mut().zip(name.bytes()) {
            *slot = byte as libc::c_char;
        }
        // SAFETY: each request passed here reads the name from an `ifreq` and writes one member of its union.
        check(unsafe { libc::ioctl(self.raw(), request, &raw mut argument) })?;
        Ok(argument)
    }
}
