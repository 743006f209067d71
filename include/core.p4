// The core library of P4_16: what every program has, whatever the architecture.

#ifndef _CORE_P4_
#define _CORE_P4_

// Why a parser stopped.
error {
    NoError,               // It did not stop early.
    PacketTooShort,        // The packet ends before the header that is extracted.
    NoMatch,               // No case of a `select` matches.
    StackOutOfBounds,      // `next` or `last` is beyond the header stack.
    HeaderTooShort,        // A variable-size field is longer than the header allows.
    ParserTimeout,         // The parser took too many steps.
    ParserInvalidArgument  // An extern of the parser was called with an argument that it does not take.
}

// A packet that is being read, first bit first.
extern packet_in {
    // Reads a header of fixed size and makes it valid. If the packet is too short, nothing is read.
    void extract<T>(out T hdr);

    // Reads a header with one `varbit` field, which gets the given number of bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);

    // Gives what stands next in the packet, without moving.
    T lookahead<T>();

    // Moves over some bits.
    void advance(in bit<32> sizeInBits);

    // The number of bytes of the whole packet. Not every architecture knows it.
    bit<32> length();
}

// A packet that is being written, first bit first.
extern packet_out {
    // Appends a header, the valid ones of a header stack, the valid one of a header union, or all headers of a struct.
    void emit<T>(in T hdr);
}

// Ends parsing with the error if the check does not hold. Only in parsers.
extern void verify(in bool check, in error toSignal);

// An action that does nothing: what a table does on a miss unless it names another action.
@noWarn("unused")
action NoAction() {}

// How a table compares a key with an entry.
match_kind {
    exact,    // All bits are equal.
    ternary,  // The bits that the entry's mask selects are equal.
    lpm       // The first bits are equal; the entry with the most of them wins.
}

// Stops the compiler with the message if the check, a constant, does not hold.
extern bool static_assert(bool check, string message);

// The same with a message of the compiler's.
extern bool static_assert(bool check);

#endif  // _CORE_P4_
