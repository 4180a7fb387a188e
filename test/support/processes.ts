/** Processes of this machine, read from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  /** Distinguishes it from a later process with the same number. */
  readonly startedAt: string
  readonly words: readonly string[]
}

/** Lists every running process, without zombies. */
export function allProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)) ?? [])
}

function processOf(pid: number): RunningProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z') return undefined
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean)
    return { pid, parent: Number(fields[1]), startedAt: fields[19] as string, words }
  } catch {
    return undefined // it ended meanwhile
  }
}

/** Lists the descendants of a process. */
export function descendantsOf(pid: number): RunningProcess[] {
  const all = allProcesses()
  const found: RunningProcess[] = []
  const pending = [pid]
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    for (const each of all)
      if (each.parent === next) {
        found.push(each)
        pending.push(each.pid)
      }
  return found
}

/** Returns those that still run. */
export function stillRunning(processes: readonly RunningProcess[]): RunningProcess[] {
  return processes.filter(({ pid, startedAt }) => processOf(pid)?.startedAt === startedAt)
}
