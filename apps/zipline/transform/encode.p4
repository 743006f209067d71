// What the encoder does with packets of the classes that have a transform. A template: included once for each, the one
// of all classes that have none of their own at last.

#include "settings.p4"

#undef BITS
#undef WITHOUT
#ifdef MIXED
#define BITS(i) hdr.starts[i].bits
#define WITHOUT(i) hdr.starts[i].setInvalid();
#else
#define BITS(i) hdr.chunks[i].aside, hdr.chunks[i].word
#define WITHOUT(i) hdr.chunks[i].setInvalid();
#endif
#undef SYNDROME
#if ITS_CODE != 0
#define SYNDROME(i) hdr.OF(references)[i].syndrome = parts.syndrome;
#else
#define SYNDROME(i)
#endif
#define REFER(i) hdr.OF(references)[i].setValid(); hdr.OF(references)[i].aside = parts.aside; \
                 hdr.OF(references)[i].identifier = parts.identifier; SYNDROME(i) WITHOUT(i)

#if CLASS != 0
            if (class == CLASS)
#endif
            {
#if defined(MIXED) && COUNT == 1
                if (!(hdr.starts[0].isValid()
#define PIECE(class) && hdr.piece_##class.isValid()
#include "pieces.p4"
                    )) {
                    kind = SHORT;
                } else
#endif
#ifdef ITS_MASK
                if (bits_gather((OF(bits_t))mask, (OF(bits_t))mask) != (OF(bits_t))~(OF(aside_t))0) {
                    kind = MISFIT;
                } else
#endif
                {
                    OF(parts_t) parts;
#if COUNT == 1
                    OF(split).apply(BITS(0)
#define PIECE(class) ++ hdr.piece_##class.bits
#include "pieces.p4"
                                    , (OF(bits_t))mask, parts, OF(met));
                    kind = parts.kind;
                    if (kind == COMPRESSED) {
                        REFER(0)
#define PIECE(class) hdr.piece_##class.setInvalid();
#include "pieces.p4"
                        mark(1);
                    } else if (kind == PROCESSED) {
#ifdef MIXED
                        WITHOUT(0)
#define PIECE(class) hdr.piece_##class.setInvalid();
#include "pieces.p4"
                        hdr.OF(chunks)[0].setValid();
#endif
                        hdr.OF(chunks)[0].aside = parts.aside;
#if ITS_CODE == 0
                        hdr.OF(chunks)[0].word = parts.basis;
#else
                        hdr.OF(chunks)[0].word = parts.basis ++ parts.syndrome;
#endif
                        mark(0);
                    }
#else
#ifdef MIXED
#define IS_THERE(i) hdr.starts[i].isValid()
#else
#define IS_THERE(i) hdr.chunks[i].isValid()
#endif
#define ENCODE(i) if (IS_THERE(i) && i < chunks) { \
                      OF(split).apply(BITS(i), (OF(bits_t))mask, parts, OF(met) TURN(i)); \
                      kind = parts.kind; \
                      if (kind == COMPRESSED) { REFER(i) known = known | (bit<8>)(0x80 >> i); } \
                  }
                    EACH(ENCODE)
                    if (known != 0) {
                        kind = COMPRESSED;
                        hdr.known.setValid();
                        hdr.known.chunks = known;
                        mark(1);
                    }
#endif
                }
            }
#if CLASS != 0
            else
#endif
