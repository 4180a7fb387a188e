const ofAll = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

/**
 * An edge constantly allocates and frees thousands of pages, of 20 to 60 kB each. The kernel allows a process 65,530
 * mappings: pages get a quarter of them, and the heap the rest.
 */
const ofEdge = { ...ofAll, MALLOC_MMAP_THRESHOLD_: '16384', MALLOC_MMAP_MAX_: '16384' }

/**
 * Returns the settings of glibc's allocator for the environment of a process. Other C libraries ignore them. Bodies are
 * allocated and freed in pieces of 64 kB and more: as separate mappings, they return to the system at once, while a
 * heap keeps the space between two pieces that stay. Also limits the heaps of the pool's threads, which compress. The
 * 16 MB of code that control and host compile while they start return to the system as well.
 */
export function allocatorOf(part: string): Readonly<Record<string, string>> {
  return part === 'edge' ? ofEdge : ofAll
}
