// PIECE(c) for each piece behind the start of a chunk of CLASS, as they stand in a packet.

#if CHUNK_7 != 0 && CHUNK_6 > CHUNK_7 && CLASS <= 6
PIECE(6)
#endif
#if CHUNK_6 != 0 && CHUNK_5 > CHUNK_6 && CLASS <= 5
PIECE(5)
#endif
#if CHUNK_5 != 0 && CHUNK_4 > CHUNK_5 && CLASS <= 4
PIECE(4)
#endif
#if CHUNK_4 != 0 && CHUNK_3 > CHUNK_4 && CLASS <= 3
PIECE(3)
#endif
#if CHUNK_3 != 0 && CHUNK_2 > CHUNK_3 && CLASS <= 2
PIECE(2)
#endif
#if CHUNK_2 != 0 && CHUNK_1 > CHUNK_2 && CLASS <= 1
PIECE(1)
#endif
#if CHUNK_1 != 0 && CHUNK_0 > CHUNK_1 && CLASS == 0
PIECE(0)
#endif
#undef PIECE
