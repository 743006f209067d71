//! The redirecting program on an interface: loaded in the best form that the kernel and the interface's driver
//! support.

use super::bpf::{Link, Program, SocketMap, Traits};
use super::program::{self, TAG_FUNCTION};
use super::{Attach, CAPABILITIES};
use crate::driver::DriverError;
use crate::interface::{self, Interface};
use crate::waiting::when_free;
use std::fs;
use std::io;

/// The file with the kernel's types.
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

/// A program that is attached to an interface as long as the value exists.
#[derive(Debug)]
pub struct Attachment {
    /// The sockets of its queues.
    pub sockets: SocketMap,
    /// Whether it runs in the interface's own driver.
    pub is_native: bool,
    /// Whether frames may consist of several fragments.
    pub has_fragments: bool,
    /// Whether it puts VLAN tags back that the driver keeps beside the frame.
    pub puts_tags_back: bool,
    _link: Link,
}

/// One form of the program, and where it runs.
#[derive(Clone, Copy, Debug)]
struct Form {
    is_native: bool,
    has_fragments: bool,
    tag_function: Option<u32>,
}

impl Attachment {
    /// Attaches the program to an interface with this many queues.
    pub fn open(interface: &Interface, queues: u32, attach: Attach) -> Result<Attachment, DriverError> {
        let name = &interface.name;
        let sockets = SocketMap::new(queues)
            .map_err(|error| interface::refusal(name, CAPABILITIES, "make a map of sockets for", error))?;
        let mut last = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        for form in forms(attach) {
            match when_free(|| tie(interface, &sockets, form)) {
                Ok(link) => {
                    return Ok(Attachment {
                        sockets,
                        is_native: form.is_native,
                        has_fragments: form.has_fragments,
                        puts_tags_back: form.tag_function.is_some(),
                        _link: link,
                    });
                }
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => {
                    return Err(DriverError::Unusable {
                        name: name.clone(),
                        cause: "another XDP program runs on it".to_owned(),
                        cure: format!(
                            "end the program that put it there, or take it off with `ip link set dev {name} xdp off`"
                        ),
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(refused(name, attach, last))
    }
}

fn tie(interface: &Interface, sockets: &SocketMap, form: Form) -> io::Result<Link> {
    let instructions = program::redirect(sockets.raw(), form.tag_function);
    let device = form.tag_function.map(|_| interface.index);
    let program = Program::load(&instructions, Traits { has_fragments: form.has_fragments, device })?;
    program.attach(interface.index, form.is_native)
}

/// The forms to try, the best first.
fn forms(attach: Attach) -> Vec<Form> {
    let plain = |is_native| [true, false].map(|has_fragments| Form { is_native, has_fragments, tag_function: None });
    let mut forms = Vec::new();
    if attach != Attach::Generic {
        let types = fs::read(KERNEL_TYPES).unwrap_or_default();
        let tag_function = program::function_number(&types, TAG_FUNCTION);
        forms.extend(tag_function.map(|_| Form { is_native: true, has_fragments: true, tag_function }));
        forms.extend(plain(true));
    }
    if attach != Attach::Native {
        forms.extend(plain(false));
    }
    forms
}

fn refused(name: &str, attach: Attach, error: io::Error) -> DriverError {
    let unusable = |cause: String, cure: String| DriverError::Unusable { name: name.to_owned(), cause, cure };
    match (error.raw_os_error(), attach) {
        (Some(libc::EPERM | libc::EACCES), _) => {
            DriverError::NoPermission { name: name.to_owned(), capabilities: CAPABILITIES }
        }
        (_, Attach::Native) => unusable(
            format!("its driver cannot run an XDP program in this configuration ({error})"),
            "leave `attach=native` out, or write `attach=generic`; a shorter MTU may help as well".to_owned(),
        ),
        _ => unusable(
            format!("no XDP program can be attached ({error})"),
            format!("AF_XDP needs Linux 5.10 or later; write the port as `{name}` to use a packet socket"),
        ),
    }
}
