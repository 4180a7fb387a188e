import { closeSync, openSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

/** More than any of the files has that are read here, all at once. */
const short = Buffer.allocUnsafe(8192)

/**
 * What the kernel says of a process in one of its short files; empty when it is gone. At once: nothing waits for a disk, and by way of Node's
 * threads such a read takes ten times the processor's time, several times a request. Into one buffer: `readFileSync` takes 64 kB for each file
 * whose length is not known, and to collect those takes as long as to read.
 */
function ofProcess(pid: number, file: string): string {
  let opened: number | undefined
  try {
    opened = openSync(`/proc/${pid}/${file}`, 'r')
    return short.toString('latin1', 0, readSync(opened, short))
  } catch {
    return ''
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/** The children of a process' first thread, as far as the machine tells (Linux). */
export const childrenOf = (pid: number): number[] =>
  ofProcess(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)

/** The processes below `pid`, itself included, as far as the machine tells (Linux). */
export function processTree(pid: number): number[] {
  const found = [pid]
  for (const each of found) found.push(...childrenOf(each))
  return found
}

/** Resident memory of a process and all below it; 0 when it is gone, undefined where the machine does not say. */
export async function residentBytesOf(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  return processTree(pid).reduce((sum, each) => sum + residentBytesOfOne(each), 0)
}

/** Of this process alone; 0 when it is gone. */
export function residentBytesOfOne(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(ofProcess(pid, 'status'))?.[1] ?? 0) * 1024
}

/** How long a process and those below it could have computed, and had no processor (Linux, sched-stats.rst); 0 where the machine does not say. */
export function waitedMsOf(pid: number): number {
  let nanoseconds = 0
  for (const each of processTree(pid)) {
    const [, waited = 0] = ofProcess(each, 'schedstat').split(' ')
    nanoseconds += Number(waited)
  }
  return nanoseconds / 1e6
}

/** All threads of a process tree: on Linux a priority belongs to a thread. */
export async function threadsOf(pid: number): Promise<number[]> {
  const threads = await Promise.all(
    processTree(pid).map(async (each) => (await readdir(`/proc/${each}/task`).catch(() => [])).map(Number)),
  )
  return threads.flat()
}
