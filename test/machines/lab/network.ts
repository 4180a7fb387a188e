/**
 * Machines of a test: network namespaces that are connected by one switch. The test process has an address on it, too.
 * Nothing in them reaches another network. Needs root and `ip`.
 */
import { execFile, execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'

const ip = (...words: string[]) => promisify(execFile)('ip', words)

export interface Machine {
  readonly name: string
  readonly address: string
  /** Starts a command in it: `[...machine.enter, 'node', 'x.js']`. */
  readonly enter: readonly string[]
  /** Drops all its packets, silently, as a broken switch port does. */
  cut(): Promise<void>
  mend(): Promise<void>
  /** Drops what it sends to one address. */
  lose(address: string): Promise<void>
  find(address: string): Promise<void>
}

export interface Network {
  /** Address of the test process for servers that machines may lose. Its visits come from another one. */
  readonly here: string
  add(name: string): Promise<Machine>
  /** Processes in machines must have ended. */
  remove(): Promise<void>
}

const PREFIX = 'stead-test-'

/** Whether this machine can have namespaces. */
export const hasNamespaces = canMakeNamespaces()

function canMakeNamespaces(): boolean {
  if (process.getuid?.() !== 0) return false
  const probe = `${PREFIX}${process.pid}-probe`
  try {
    execFileSync('ip', ['netns', 'add', probe], { stdio: 'ignore' })
    execFileSync('ip', ['netns', 'delete', probe], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Returns a /24 of the network for benchmarks (RFC 2544), which nobody else uses, for each test process. */
const subnet = `198.${18 + (process.pid % 2)}.${(process.pid >> 1) % 256}`

export async function openNetwork(): Promise<Network> {
  removeLeftovers()
  const label = `${PREFIX}${process.pid}`
  const hub = `${label}-switch`
  const port = `st${process.pid}`
  const here = `${subnet}.2`
  await ip('netns', 'add', hub)
  const inHub = (...words: string[]) => ip('-n', hub, ...words)
  await inHub('link', 'add', 'hub', 'type', 'bridge')
  await inHub('link', 'set', 'hub', 'up')
  await ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'test', 'netns', hub)
  // the first one is the source of visits
  for (const address of [`${subnet}.1`, here]) await ip('address', 'add', `${address}/24`, 'dev', port)
  await ip('link', 'set', port, 'up')
  await inHub('link', 'set', 'test', 'master', 'hub', 'up')
  const names = [hub]
  return {
    here,
    async add(name) {
      const space = `${label}-${name}`
      const address = `${subnet}.${names.length + 10}`
      await ip('netns', 'add', space)
      names.push(space)
      const within = (...words: string[]) => ip('-n', space, ...words)
      await ip('-n', hub, 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
      await inHub('link', 'set', name, 'master', 'hub', 'up')
      await within('link', 'set', 'lo', 'up')
      await within('address', 'add', `${address}/24`, 'dev', 'eth0')
      await within('link', 'set', 'eth0', 'up')
      return {
        name,
        address,
        enter: ['ip', 'netns', 'exec', space],
        cut: async () => void (await inHub('link', 'set', name, 'nomaster')),
        mend: async () => void (await inHub('link', 'set', name, 'master', 'hub')),
        lose: async (to) => void (await within('route', 'add', 'blackhole', to)),
        find: async (to) => void (await within('route', 'delete', 'blackhole', to)),
      }
    },
    async remove() {
      for (const name of names.reverse()) await ip('netns', 'delete', name)
    },
  }
}

/** Removes the namespaces of test processes that were killed. */
function removeLeftovers(): void {
  let names: string[] = []
  try {
    names = readdirSync('/run/netns')
  } catch {
    return
  }
  for (const name of names) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) execFileSync('ip', ['netns', 'delete', name])
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
