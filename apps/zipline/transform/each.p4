// Includes TEMPLATE once for each transform, those of single classes before the one that all others have.

#if defined(CODE_7) && !defined(WRONG)
#define CLASS 7
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_6) && !defined(WRONG)
#define CLASS 6
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_5) && !defined(WRONG)
#define CLASS 5
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_4) && !defined(WRONG)
#define CLASS 4
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_3) && !defined(WRONG)
#define CLASS 3
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_2) && !defined(WRONG)
#define CLASS 2
#include TEMPLATE
#undef CLASS
#endif
#if defined(CODE_1) && !defined(WRONG)
#define CLASS 1
#include TEMPLATE
#undef CLASS
#endif
#ifndef WRONG
#define CLASS 0
#include TEMPLATE
#undef CLASS
#endif
#undef TEMPLATE
