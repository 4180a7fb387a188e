/**
 * Measures the processor time of each test file: of its process, and of all ended processes that it started. The report
 * of a tier shows it.
 */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** In seconds; only on files. */
    processorSeconds?: number
  }
}

const TICKS_A_SECOND = 100

/** User and system time of this process and of its ended children (proc(5), fields 14 to 17). */
function processorSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND
}

const hasProc = process.platform === 'linux'
const before = hasProc ? processorSeconds() : 0

// biome-ignore lint/correctness/noEmptyPattern: the file comes second
afterAll(({}, file) => {
  if (hasProc) file.meta.processorSeconds = processorSeconds() - before
})
