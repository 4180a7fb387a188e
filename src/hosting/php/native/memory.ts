import { readFile } from 'node:fs/promises'
import { processTree, residentBytesOfOne } from '../wasm/process-tree.ts'

/**
 * Memory of a process and all below it, in which what several share counts once: php-fpm's children share opcache and the libraries with
 * each other. 0 when it is gone. Where the machine does not tell a process' part, it counts with all that it has.
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
