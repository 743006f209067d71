// Which classes have a transform of their own, and in which order they come.
//
// Class c has one if there is CODE_c. Chunks of all begin at the same place. Where there are several transforms the
// encoder takes a packet in pieces, since a parser cannot know its class: a START, as long as the shortest chunk, and a
// piece more for each transform whose chunk is longer than that of the next one.

#if !defined(CODE_1) && (defined(ERRORS_1) || defined(POLYNOMIAL_1) || defined(CHUNK_1) || defined(ASIDE_1))
#error class 1 has settings but no CODE_1, with which a transform of its own begins
#endif
#if !defined(CODE_2) && (defined(ERRORS_2) || defined(POLYNOMIAL_2) || defined(CHUNK_2) || defined(ASIDE_2))
#error class 2 has settings but no CODE_2, with which a transform of its own begins
#endif
#if !defined(CODE_3) && (defined(ERRORS_3) || defined(POLYNOMIAL_3) || defined(CHUNK_3) || defined(ASIDE_3))
#error class 3 has settings but no CODE_3, with which a transform of its own begins
#endif
#if !defined(CODE_4) && (defined(ERRORS_4) || defined(POLYNOMIAL_4) || defined(CHUNK_4) || defined(ASIDE_4))
#error class 4 has settings but no CODE_4, with which a transform of its own begins
#endif
#if !defined(CODE_5) && (defined(ERRORS_5) || defined(POLYNOMIAL_5) || defined(CHUNK_5) || defined(ASIDE_5))
#error class 5 has settings but no CODE_5, with which a transform of its own begins
#endif
#if !defined(CODE_6) && (defined(ERRORS_6) || defined(POLYNOMIAL_6) || defined(CHUNK_6) || defined(ASIDE_6))
#error class 6 has settings but no CODE_6, with which a transform of its own begins
#endif
#if !defined(CODE_7) && (defined(ERRORS_7) || defined(POLYNOMIAL_7) || defined(CHUNK_7) || defined(ASIDE_7))
#error class 7 has settings but no CODE_7, with which a transform of its own begins
#endif

#if defined(CODE_1) && CLASSES <= 1
#error there is CODE_1, but CLASSES says that there is no class 1
#endif
#if defined(CODE_2) && CLASSES <= 2
#error there is CODE_2, but CLASSES says that there is no class 2
#endif
#if defined(CODE_3) && CLASSES <= 3
#error there is CODE_3, but CLASSES says that there is no class 3
#endif
#if defined(CODE_4) && CLASSES <= 4
#error there is CODE_4, but CLASSES says that there is no class 4
#endif
#if defined(CODE_5) && CLASSES <= 5
#error there is CODE_5, but CLASSES says that there is no class 5
#endif
#if defined(CODE_6) && CLASSES <= 6
#error there is CODE_6, but CLASSES says that there is no class 6
#endif
#if defined(CODE_7) && CLASSES <= 7
#error there is CODE_7, but CLASSES says that there is no class 7
#endif

// Class 0 has the settings without a number. Those of the others have one; where a class has no transform of its own,
// CHUNK_c is that of the next class that has one, or nothing.
#define CODE_0 CODE
#define ERRORS_0 ERRORS
#define POLYNOMIAL_0 POLYNOMIAL
#define CHUNK_0 CHUNK
#define ASIDE_0 ASIDE
#define CHUNK_8 0
#ifndef CODE_7
#define CHUNK_7 CHUNK_8
#elif !defined(CHUNK_7)
#define CHUNK_7 CHUNK
#endif
#ifndef CODE_6
#define CHUNK_6 CHUNK_7
#elif !defined(CHUNK_6)
#define CHUNK_6 CHUNK
#endif
#ifndef CODE_5
#define CHUNK_5 CHUNK_6
#elif !defined(CHUNK_5)
#define CHUNK_5 CHUNK
#endif
#ifndef CODE_4
#define CHUNK_4 CHUNK_5
#elif !defined(CHUNK_4)
#define CHUNK_4 CHUNK
#endif
#ifndef CODE_3
#define CHUNK_3 CHUNK_4
#elif !defined(CHUNK_3)
#define CHUNK_3 CHUNK
#endif
#ifndef CODE_2
#define CHUNK_2 CHUNK_3
#elif !defined(CHUNK_2)
#define CHUNK_2 CHUNK
#endif
#ifndef CODE_1
#define CHUNK_1 CHUNK_2
#elif !defined(CHUNK_1)
#define CHUNK_1 CHUNK
#endif

#if CHUNK_1 != 0
#define MIXED
#endif

#define CHUNK_AFTER_0 CHUNK_1
#define CHUNK_AFTER_1 CHUNK_2
#define CHUNK_AFTER_2 CHUNK_3
#define CHUNK_AFTER_3 CHUNK_4
#define CHUNK_AFTER_4 CHUNK_5
#define CHUNK_AFTER_5 CHUNK_6
#define CHUNK_AFTER_6 CHUNK_7
#define CHUNK_AFTER_7 CHUNK_8

// DO(c, with) for each class with a transform of its own.
#define EACH_OWN(DO, with) \
    OWN_1(DO, with) OWN_2(DO, with) OWN_3(DO, with) OWN_4(DO, with) OWN_5(DO, with) OWN_6(DO, with) OWN_7(DO, with)
#ifdef CODE_1
#define OWN_1(DO, with) DO(1, with)
#else
#define OWN_1(DO, with)
#endif
#ifdef CODE_2
#define OWN_2(DO, with) DO(2, with)
#else
#define OWN_2(DO, with)
#endif
#ifdef CODE_3
#define OWN_3(DO, with) DO(3, with)
#else
#define OWN_3(DO, with)
#endif
#ifdef CODE_4
#define OWN_4(DO, with) DO(4, with)
#else
#define OWN_4(DO, with)
#endif
#ifdef CODE_5
#define OWN_5(DO, with) DO(5, with)
#else
#define OWN_5(DO, with)
#endif
#ifdef CODE_6
#define OWN_6(DO, with) DO(6, with)
#else
#define OWN_6(DO, with)
#endif
#ifdef CODE_7
#define OWN_7(DO, with) DO(7, with)
#else
#define OWN_7(DO, with)
#endif
