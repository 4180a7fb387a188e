import { closeSync, openSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

/** Larger than any of the files that are read here. Shared by all reads. */
const short = Buffer.allocUnsafe(8192)

/**
 * Returns the kernel's report about a process from one of its short files, or an empty text when the process is gone.
 * Reads synchronously: no disk is involved, and through Node's threads such a read takes ten times the processor time,
 * several times per request. Reads into one buffer: `readFileSync` allocates 64 kB for each file of unknown length, and
 * collecting those takes as long as reading.
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

/** Returns the children of a process' first thread, if the machine reports them (Linux). */
export const childrenOf = (pid: number): number[] =>
  ofProcess(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)

/** Returns the processes below `pid` and `pid` itself, if the machine reports them (Linux). */
export function processTree(pid: number): number[] {
  const found = [pid]
  for (const each of found) found.push(...childrenOf(each))
  return found
}

/**
 * Returns the resident memory of a process and all below it; 0 when it is gone, undefined if the machine does not
 * report it.
 */
export async function residentBytesOf(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  return processTree(pid).reduce((sum, each) => sum + residentBytesOfOne(each), 0)
}

/** Returns the resident memory of this process only; 0 when it is gone. */
export function residentBytesOfOne(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(ofProcess(pid, 'status'))?.[1] ?? 0) * 1024
}

/**
 * Returns how long a process and those below it were ready to run without a processor (Linux, sched-stats.rst); 0 if
 * the machine does not report it.
 */
export function waitedMsOf(pid: number): number {
  let nanoseconds = 0
  for (const each of processTree(pid)) {
    const [, waited = 0] = ofProcess(each, 'schedstat').split(' ')
    nanoseconds += Number(waited)
  }
  return nanoseconds / 1e6
}

/** The unit of times in the kernel's reports (USER_HZ): the same on all machines that run Node. */
const MS_OF_TICK = 10

/**
 * Returns the processor time of a process and those below it, and of those that have ended and were awaited (Linux); 0
 * if the machine does not report it.
 */
export function processorMsOf(pid: number): number {
  let ticks = 0
  for (const each of processTree(pid)) {
    // The name in brackets may contain anything. The 12th to 15th of the numbers after it are times (proc_pid_stat(5)).
    const report = ofProcess(each, 'stat')
    const times = report.slice(report.lastIndexOf(')') + 2).split(' ')
    for (const time of times.slice(11, 15)) ticks += Number(time)
  }
  return ticks * MS_OF_TICK
}

/** Returns all threads of a process tree: on Linux a priority belongs to a thread. */
export async function threadsOf(pid: number): Promise<number[]> {
  const threads = await Promise.all(
    processTree(pid).map(async (each) => (await readdir(`/proc/${each}/task`).catch(() => [])).map(Number)),
  )
  return threads.flat()
}
