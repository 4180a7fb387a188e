import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Of one site's PHP. */
export interface CgroupBounds {
  /** What the site's PHP may have, its page cache included: then its largest process is ended by the kernel. */
  readonly memoryBytes: number
  /** Processes and threads. */
  readonly most: number
}

/** The group of one sandbox. */
export interface Cgroup {
  /** Whoever writes its number here is in the group with all that it starts. */
  readonly entry: string
  /** Behind those of other sites, or among them, for processors and disks. */
  setLow(low: boolean): Promise<void>
  /** Ends whatever is in it, and removes it. */
  end(): Promise<void>
}

/** What each bounds; without one, the others do all the same. */
const controllers = ['memory', 'pids', 'cpu', 'io'] as const
type Controller = (typeof controllers)[number]

/** Weights are from 1 to 10,000, and 100 for whoever has none: Stead itself. */
const usualWeight = 50
const lowWeight = 5
const removeTries = 50
const removePauseMs = 20

/** Groups by which the kernel bounds what sites take (cgroup v2), in a folder that is Stead's to fill. */
export class Cgroups {
  /** What the machine or whoever delegated the folder does not give. */
  readonly missing: readonly Controller[]
  readonly #folder: string
  #made = 0

  private constructor(folder: string, missing: readonly Controller[]) {
    this.#folder = folder
    this.missing = missing
  }

  /**
   * Takes a folder, such as systemd makes it for a service with `Delegate=`. What runs in it itself moves into a group beside those of sites:
   * a group with others below it may have no processes of its own. Groups that a host left behind are ended.
   * @param memoryBytes all sites together
   * @throws when it is no such folder, or not to be written
   */
  static async open(folder: string, { memoryBytes }: { memoryBytes: number }): Promise<Cgroups> {
    const offered = (await readFile(join(folder, 'cgroup.controllers'), 'utf8')).trim().split(/\s+/)
    const has = controllers.filter((each) => offered.includes(each))
    await moveOwn(folder)
    const sites = join(folder, 'sites')
    await mkdir(sites, { recursive: true })
    for (const each of has) {
      await writeFile(join(folder, 'cgroup.subtree_control'), `+${each}`)
      await writeFile(join(sites, 'cgroup.subtree_control'), `+${each}`)
    }
    const missing = controllers.filter((each) => !has.includes(each))
    if (has.includes('memory')) await writeFile(join(sites, 'memory.max'), String(memoryBytes))
    for (const left of await folders(sites)) await end(join(sites, left))
    return new Cgroups(sites, missing)
  }

  async make({ memoryBytes, most }: CgroupBounds): Promise<Cgroup> {
    const folder = join(this.#folder, `${process.pid}-${++this.#made}`)
    const set = async (controller: Controller, file: string, value: string) => {
      if (!this.missing.includes(controller)) await writeFile(join(folder, file), value)
    }
    const setWeight = async (weight: number) => {
      await set('cpu', 'cpu.weight', String(weight))
      await set('io', 'io.weight', `default ${weight}`)
    }
    await mkdir(folder)
    await set('memory', 'memory.max', String(memoryBytes))
    await set('pids', 'pids.max', String(most))
    await setWeight(usualWeight)
    return {
      entry: join(folder, 'cgroup.procs'),
      setLow: (low) => setWeight(low ? lowWeight : usualWeight),
      end: () => end(folder),
    }
  }
}

async function moveOwn(folder: string): Promise<void> {
  const numbers = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean)
  if (numbers.length === 0) return
  await mkdir(join(folder, 'stead'), { recursive: true })
  for (const number of numbers) {
    // one that has ended meanwhile
    await writeFile(join(folder, 'stead/cgroup.procs'), number).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ESRCH') throw error
    })
  }
}

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

async function end(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {})
  for (let tries = 0; tries < removeTries; tries++) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      // its last process is just going
      if (code !== 'EBUSY') break
      await pause(removePauseMs)
    }
  }
  if (await stat(folder).catch(() => undefined)) throw new Error(`${folder} is not to be removed: something runs in it`)
}
