import { readFileSync } from 'node:fs'

/**
 * Memory of a process in MB: its own pages, and its share of those that it has in common with others (Pss). Rss counts the
 * common ones, such as the program of Node itself, once for each process.
 */
export function memoryMb(pid: number): { pss: number; rss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
  return { pss: read('Pss'), rss: read('Rss') }
}
