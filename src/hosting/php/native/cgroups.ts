import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Limits for one site's PHP. */
export interface CgroupBounds {
  /** Memory of the site's PHP, including its page cache. Above it, the kernel kills its largest process. */
  readonly memoryBytes: number
  /** The most processes and threads. */
  readonly most: number
}

/** The group of one sandbox. */
export interface Cgroup {
  /** A process that writes its number here joins the group, with everything that it starts. */
  readonly entry: string
  /** Gives the group lower weight for CPU and disks than other sites, or the same. */
  setLow(low: boolean): Promise<void>
  /** Ends everything in the group and removes it. */
  end(): Promise<void>
}

/** Each controller works without the others. */
const controllers = ['memory', 'pids', 'cpu', 'io'] as const
type Controller = (typeof controllers)[number]

/** Weights range from 1 to 10,000. Processes without one, such as Stead itself, have 100. */
const usualWeight = 50
const lowWeight = 5
const removeTries = 50
const removePauseMs = 20

/**
 * Groups through which the kernel limits the resources of sites (cgroup v2), in a folder that is delegated to Stead.
 */
export class Cgroups {
  /** Controllers that the machine, or the delegation of the folder, does not provide. */
  readonly missing: readonly Controller[]
  readonly #folder: string
  #made = 0

  private constructor(folder: string, missing: readonly Controller[]) {
    this.#folder = folder
    this.missing = missing
  }

  /**
   * Opens a folder such as systemd creates for a service with `Delegate=`. Moves processes in the folder itself into a
   * group next to those of sites, because a group with child groups may not contain processes. Ends groups that an
   * earlier host left behind.
   * @param memoryBytes limit for all sites together
   * @throws when the folder is not a cgroup or not writable
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
    // It has ended meanwhile.
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
      // Its last process is just ending.
      if (code !== 'EBUSY') break
      await pause(removePauseMs)
    }
  }
  if (await stat(folder).catch(() => undefined)) throw new Error(`${folder} cannot be removed: a process runs in it`)
}
