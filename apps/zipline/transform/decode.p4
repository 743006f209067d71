// What the decoder does with packets of the classes that have a transform. A template: included once for each, the one
// of all classes that have none of their own at last.

#include "settings.p4"

#undef SYNDROME
#undef SYNDROME_ARGUMENT
#if ITS_CODE != 0
#define SYNDROME(i) hdr.OF(references)[i].syndrome,
#define SYNDROME_ARGUMENT syndrome,
#else
#define SYNDROME(i)
#define SYNDROME_ARGUMENT
#endif
#define EXPAND(i) OF(join).apply(true, hdr.OF(references)[i].identifier, hdr.OF(references)[i].aside, 0, SYNDROME(i) \
                                 (OF(bits_t))mask, OF(aside), OF(word), kind);
#define RESTORE(i) hdr.OF(references)[i].setInvalid(); hdr.OF(chunks)[i].setValid(); \
                   hdr.OF(chunks)[i].aside = OF(aside); hdr.OF(chunks)[i].word = OF(word);

#if CLASS != 0
            if (number[8:1] == CLASS)
#endif
            {
#if COUNT == 1
                // Said of both, so that what follows knows which headers there are.
                if (hdr.OF(references)[0].isValid() && !hdr.OF(chunks)[0].isValid()) {
                    kind = EXPANDED;
                    classes.apply();
                    if (kind == EXPANDED) {
                        EXPAND(0)
                        RESTORE(0)
                    }
                } else if (hdr.OF(chunks)[0].isValid() && !hdr.OF(references)[0].isValid()) {
                    kind = RESTORED;
                    classes.apply();
                    if (kind == RESTORED) {
#if ITS_CODE != 0
                        OF(syndrome_t) syndrome = hdr.OF(chunks)[0].word[OF(M) - 1:0];
#endif
                        OF(join).apply(false, 0, hdr.OF(chunks)[0].aside, hdr.OF(chunks)[0].word, SYNDROME_ARGUMENT
                                       (OF(bits_t))mask, OF(aside), OF(word), kind);
                        RESTORE(0)
                    }
                } else {
                    kind = SHORT;
                }
#else
#define DECODE(i) if (kind == EXPANDED && hdr.OF(references)[i].isValid()) { \
                      EXPAND(i) \
                      RESTORE(i) \
                  }
                EACH(DECODE)
#endif
            }
#if CLASS != 0
            else
#endif
