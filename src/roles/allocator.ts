/**
 * How glibc's allocator keeps an edge's memory, for its environment; another C library ignores it. Bodies come and go in pieces of 64 kB and
 * more: as mappings of their own they go back to the system at once, where a heap keeps what lies between two that stay. And the
 * threads of the pool, which compress, do not keep a heap each.
 */
export const allocatorOfEdges = {
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_ARENA_MAX: '2',
}
