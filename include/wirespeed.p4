// What Wirespeed's switch can do beyond v1model. A program includes this file after v1model.p4.
//
// Remainders of polynomials, and bits that a mask picks, are for codes in the data plane, see the last functions.
//
// Coalescing buffers: small packets that have the way before them in common wait for each other, and continue as one. The
// names of the functions call a buffer a pile. A program gathers packets in egress, and meets the buffer again in ingress.
// Which packets, what stands before the buffer's bytes and what becomes of it is all the program's. Records are the way
// back: a packet is cut into those that it is made of.
//
//   packet ─► ingress ─► egress, pile_gather ─► deparser ─► its bytes wait in the buffer
//   buffer ─► parser ─► ingress (pile_read) ─► ... sent like any packet
//   packet of records ─► ingress, scatter_records ─► each record ─► parser ─► ingress ─► ... sent like any packet
//
// docs/design/coalescing.md has the choices behind these functions.
//
// And an annotation of registers: all cells of `@start_number register<bit<W>>(N) r;` hold a number of this start of the
// switch. It is drawn anew each time that a switch is started, or gets the program anew, is never 0, and is not brought
// back by `--state`, so that a program can notify its peers that it has lost its state. A run from captures to
// captures alone, without a state, has its seed there, so that the same input gives the same output.

#ifndef _WIRESPEED_P4_
#define _WIRESPEED_P4_

// `standard_metadata.instance_type` of a buffer that has left.
const bit<32> INSTANCE_TYPE_PILE = 3;
// Of a record of a packet that was taken apart.
const bit<32> INSTANCE_TYPE_RECORD = 7;
// Of a packet that was to be taken apart, but is not made of those records. Its bytes are as they were received.
const bit<32> INSTANCE_TYPE_NO_RECORDS = 8;

// In egress: the packet is not sent. Its bytes, as deparsed (and cut, if `truncate` was called), are added to the end
// of the buffer. A buffer leaves, and goes through the parser and ingress as a packet of the instance type above, with
// these bytes and no metadata:
// * before a packet is added with which it would be longer than `bytes_max`;
// * when it is that long;
// * when one of its packets has waited for `wait_us` microseconds since it was received;
// * when `pile_release` requests it.
// A packet longer than `bytes_max` is a buffer by itself that leaves at once.
extern void pile_gather(in bit<16> pile, in bit<16> bytes_max, in bit<24> wait_us);

// In ingress: the buffer leaves, if packets wait in it, and goes through ingress next. If this packet is resubmitted, it
// follows the buffer, so that it does not overtake the packets in it.
extern void pile_release(in bit<16> pile);

// Which buffer a packet was and how many packets it is made of; both 0 for packets that were no buffer.
extern void pile_read(out bit<16> pile, out bit<16> packets);

// In ingress: the packet, as it was received, is taken apart behind its first `first_byte` bytes, and ends. A record
// begins with 16 bits, of which the upper four are the program's own and the lower twelve are the number of bytes that follow, at
// least one. Each record, these bits included, goes through the parser and ingress as a packet of the instance type
// above, in order and with nothing between them. If the packet is not made of `records` such records, no more and no
// fewer, then nothing is taken apart: it goes through the parser and ingress once more as a whole.
extern void scatter_records(in bit<16> first_byte, in bit<16> records);

// The remainder of `data` on division by `polynomial`. R is bit<1> to bit<32>, T any bit<N>. Bit i of `data` is the
// coefficient of x^i; that of the divisor's highest power, x to the width of R, is 1 and is not written. A CRC first
// multiplies the data by that power: `crc_remainder(r, data ++ (R)0, polynomial)` is the CRC that starts with 0,
// reflects nothing and inverts nothing. `polynomial` is known at compile time.
@pure
extern void crc_remainder<R, T>(out R remainder, in T data, in R polynomial);

// The bits of `value` where `mask` has ones, moved together: the lowest first, zeros above them. T is any bit<N>, and the mask
// need not be known at compile time.
@pure
extern T bits_gather<T>(in T value, in T mask);

// The lowest bits of `value`, in order, where `mask` has ones, and zeros elsewhere: `bits_scatter(bits_gather(v, m), m)` is
// `v & m`.
@pure
extern T bits_scatter<T>(in T value, in T mask);

#endif
