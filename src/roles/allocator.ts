const ofAll = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

/**
 * Pages come and go at an edge by the thousand, of 20 to 60 kB each. The kernel allows a process 65,530 mappings: a quarter of them, and the heap has the rest.
 */
const ofEdge = { ...ofAll, MALLOC_MMAP_THRESHOLD_: '16384', MALLOC_MMAP_MAX_: '16384' }

/**
 * How glibc's allocator keeps the memory of a part, for its environment; another C library ignores it. Bodies come and go in pieces of 64 kB and
 * more: as mappings of their own they go back to the system at once, where a heap keeps what lies between two that stay. And the
 * threads of the pool, which compress, do not keep a heap each. What control and host have compiled while they start goes back as well: 16 MB.
 */
export function allocatorOf(part: string): Readonly<Record<string, string>> {
  return part === 'edge' ? ofEdge : ofAll
}
