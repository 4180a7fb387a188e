import { readFileSync } from 'node:fs'

/**
 * Returns the memory of a process in MB: its own pages, and its share of shared ones (Pss). Rss counts shared pages,
 * such as Node's program, once for each process.
 */
export function memoryMb(pid: number): { pss: number; rss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
  return { pss: read('Pss'), rss: read('Rss') }
}
