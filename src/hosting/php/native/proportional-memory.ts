import { readFile } from 'node:fs/promises'
import { processTree, residentBytesOfOne } from '../wasm/process-tree.ts'

/**
 * Returns the memory of a process and its descendants, counting shared memory once: php-fpm's children share opcache
 * and the libraries. 0 when the process is gone. If the machine does not report a process' proportional share, counts
 * its whole resident memory.
 */
export async function proportionalBytesOf(pid: number): Promise<number> {
  const each = await Promise.all(processTree(pid).map(bytesOf))
  return each.reduce((sum, bytes) => sum + bytes, 0)
}

async function bytesOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const part = /^Pss:\s+(\d+) kB/m.exec(rollup)
  return part ? Number(part[1]) * 1024 : residentBytesOfOne(pid)
}
