// The settings of one transform, that of CLASS, as macros: each template begins with them. If one is WRONG, which is
// said once, there are no more templates.

#undef SUFFIX
#undef ITS_ERRORS
#undef ITS_POLYNOMIAL
#undef ITS_ASIDE
#undef ITS_MASK
#undef ITS_LONGER

// Names of what it has: `bases` for class 0, `bases_1` for class 1.
#if CLASS == 0
#define SUFFIX
#else
#define SUFFIX JOINED(_, CLASS)
#endif
#define OF(name) JOINED(name, SUFFIX)
#define JOINED(first, last) PASTED(first, last)
#define PASTED(first, last) first##last

#define ITS_CODE JOINED(CODE_, CLASS)
#define ITS_CHUNK JOINED(CHUNK_, CLASS)

#if ITS_CHUNK < JOINED(CHUNK_AFTER_, CLASS)
#define WRONG
#error classes with transforms of their own stand in the order of their chunks, the longest first: compare CHUNK
#endif
#if COUNT > 1 && ITS_CHUNK != CHUNK && !defined(WRONG)
#define WRONG
#error where packets have several chunks, those of all classes have one length
#endif

#if JOINED(ERRORS_, CLASS) == 0 || JOINED(ERRORS_, CLASS) == 1
#define ITS_ERRORS 1
#elif JOINED(ERRORS_, CLASS) == 2
#define ITS_ERRORS 2
#else
#define WRONG
#error ERRORS is 1 or 2
#endif

#if ITS_CODE != 0 && JOINED(POLYNOMIAL_, CLASS) != 0 && !defined(WRONG)
#if ITS_ERRORS == 2
#define WRONG
#error POLYNOMIAL is for codes that correct one bit
#elif JOINED(POLYNOMIAL_, CLASS) >> ITS_CODE != 0 || (JOINED(POLYNOMIAL_, CLASS) & 1) == 0
#define WRONG
#error POLYNOMIAL is odd and has no more than CODE bits: the highest power is left out
#endif
#endif

#if ITS_CODE == 0
#define ITS_POLYNOMIAL 0
#elif JOINED(POLYNOMIAL_, CLASS) != 0
#define ITS_POLYNOMIAL JOINED(POLYNOMIAL_, CLASS)
#elif ITS_ERRORS == 2
#if ITS_CODE == 4
#define ITS_POLYNOMIAL 0xd1
#elif ITS_CODE == 5
#define ITS_POLYNOMIAL 0x369
#elif ITS_CODE == 6
#define ITS_POLYNOMIAL 0x539
#elif ITS_CODE == 7
#define ITS_POLYNOMIAL 0x377
#elif ITS_CODE == 8
#define ITS_POLYNOMIAL 0x6f63
#elif ITS_CODE == 9
#define ITS_POLYNOMIAL 0x95c9
#else
#define WRONG
#error CODE is the m of a code that corrects two bits, 4 to 9
#endif
#elif ITS_CODE == 3
#define ITS_POLYNOMIAL 0x3
#elif ITS_CODE == 4
#define ITS_POLYNOMIAL 0x3
#elif ITS_CODE == 5
#define ITS_POLYNOMIAL 0x05
#elif ITS_CODE == 6
#define ITS_POLYNOMIAL 0x03
#elif ITS_CODE == 7
#define ITS_POLYNOMIAL 0x09
#elif ITS_CODE == 8
#define ITS_POLYNOMIAL 0x1D
#elif ITS_CODE == 9
#define ITS_POLYNOMIAL 0x011
#elif ITS_CODE == 10
#define ITS_POLYNOMIAL 0x009
#elif ITS_CODE == 11
#define ITS_POLYNOMIAL 0x005
#elif ITS_CODE == 12
#define ITS_POLYNOMIAL 0x053
#elif ITS_CODE == 13
#define ITS_POLYNOMIAL 0x01B
#elif ITS_CODE == 14
#define ITS_POLYNOMIAL 0x143
#elif ITS_CODE == 15
#define ITS_POLYNOMIAL 0x003
#else
#define WRONG
#error CODE is the m of a Hamming code, 3 to 15, or 0
#endif

// Bits that are set aside: with a code, what its word leaves.
#if ITS_CODE != 0
#define ITS_ASIDE (8 * ITS_CHUNK - (1 << ITS_CODE) + 1)
#elif CLASS == 0 && !defined(CHUNK)
#define WRONG
#error without a code, CHUNK says how many bytes a chunk has
#elif JOINED(ASIDE_, CLASS) == 0
#define WRONG
#error without a code, ASIDE says how many bits the masks of classes have
#else
#define ITS_ASIDE JOINED(ASIDE_, CLASS)
#endif
#if !defined(WRONG) && (ITS_ASIDE < 1 || ITS_ASIDE >= 8 * ITS_CHUNK)
#define WRONG
#error the word of the code does not fit into CHUNK bytes, or ASIDE leaves nothing of them
#endif

// Whether its classes have masks. Where one bit is set aside for a code's sake alone, it is the first.
#if ITS_CODE == 0 || 8 * ITS_CHUNK != 1 << ITS_CODE
#define ITS_MASK
#endif

// Where a reference would be longer than the chunk, or, with `known`, as long, no packet has it: none grows. Chunks
// with an identifier stay as others do then.
#define ITS_REFERENCE_BITS (ITS_ASIDE + ID_BITS + ITS_CODE * ITS_ERRORS)
#if ITS_REFERENCE_BITS > 8 * ITS_CHUNK || COUNT > 1 && ITS_REFERENCE_BITS > 8 * (ITS_CHUNK - 1)
#define ITS_LONGER
#endif
