import { readdir, readFile } from 'node:fs/promises'

/** The processes below `pid`, itself included, as far as the machine tells (Linux). */
export async function processTree(pid: number): Promise<number[]> {
  const found = [pid]
  for (const each of found) {
    const children = await readFile(`/proc/${each}/task/${each}/children`, 'utf8').catch(() => '')
    found.push(...children.trim().split(/\s+/).filter(Boolean).map(Number))
  }
  return found
}

/** Resident memory of a process and all below it; 0 when it is gone, undefined where the machine does not say. */
export async function residentBytesOf(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  let sum = 0
  for (const each of await processTree(pid)) sum += await residentBytesOfOne(each)
  return sum
}

/** Of this process alone; 0 when it is gone. */
export async function residentBytesOfOne(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

/** How long a process and those below it could have computed, and had no processor (Linux, sched-stats.rst); 0 where the machine does not say. */
export async function waitedMsOf(pid: number): Promise<number> {
  let nanoseconds = 0
  for (const each of await processTree(pid)) {
    const [, waited = 0] = (await readFile(`/proc/${each}/schedstat`, 'utf8').catch(() => '')).split(' ')
    nanoseconds += Number(waited)
  }
  return nanoseconds / 1e6
}

/** All threads of a process tree: on Linux a priority belongs to a thread. */
export async function threadsOf(pid: number): Promise<number[]> {
  const threads = await Promise.all(
    (await processTree(pid)).map(async (each) => (await readdir(`/proc/${each}/task`).catch(() => [])).map(Number)),
  )
  return threads.flat()
}
