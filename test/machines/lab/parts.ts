/** One process of Stead on a machine of the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../../../src/hosting/site-files/remove-tree.ts'
import { testCore } from '../../support/core.ts'
import { fromGolden, goldenFolder, keepGolden } from '../../support/golden.ts'
import { descendantsOf, type RunningProcess, stillRunning } from '../../support/processes.ts'
import { endsWithThisProcess, program, until } from '../../support/stead.ts'
import type { Machine } from './network.ts'

export type Role = 'control' | 'host' | 'edge'

export interface Part {
  readonly machine: Machine
  readonly dataDir: string
  /** Output since the first start. */
  output(): string
  /** Keeps the template of a host for the starts of other tests. */
  keepTemplate(): Promise<void>
  /** Starts it, and returns when it listens. */
  start(): Promise<void>
  /** Of its first process, once it was started. */
  pid(): number | undefined
  /** Whether its process has ended. */
  hasEnded(): boolean
  /** Ends it with SIGTERM. */
  stop(): Promise<void>
  /** Kills it and all its processes, as the loss of power would. */
  kill(): Promise<void>
  /** Stops all its processes where they are. */
  suspend(): void
  resume(): void
  /** What starts a command of Stead on the machine, and its settings. */
  readonly stead: { readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv }
  /** Runs another command of Stead on the machine, with the settings of the part. */
  cli(...words: string[]): Promise<{ code: number; out: string }>
  remove(): Promise<void>
}

/** @param listens whether it accepts requests by now */
export async function makePart(
  machine: Machine,
  role: Role,
  settings: Record<string, string>,
  listens: () => Promise<boolean>,
): Promise<Part> {
  const dataDir = await mkdtemp(join(tmpdir(), `stead-${role}-`))
  // sites and a database server run as their own users
  await chmod(dataDir, 0o711)
  const core = await testCore()
  const golden = role === 'host' && core ? await goldenFolder(core) : undefined
  if (golden) await fromGolden(golden, dataDir)
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('STEAD_'))),
    NODE_ENV: 'production',
    STEAD_DATA_DIR: dataDir,
    STEAD_LOG_FORMAT: 'json',
    ...(core && { STEAD_CORE_SOURCE: core }),
    ...settings,
  }
  const [enter = '', ...within] = [...endsWithThisProcess, ...machine.enter, process.execPath, program]
  let child: ChildProcess | undefined
  let output = ''
  const seen: RunningProcess[] = []
  const processes = (): number[] => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode) return []
    const descendants = descendantsOf(child.pid)
    seen.push(...descendants)
    return [child.pid, ...descendants.map(({ pid }) => pid)]
  }
  const signal = (name: NodeJS.Signals, pids = processes()) => {
    for (const pid of pids)
      try {
        process.kill(pid, name)
      } catch {
        // it has ended
      }
  }
  const kill = async () => {
    const running = child
    signal('SIGKILL')
    if (running && running.exitCode === null && !running.signalCode) await once(running, 'exit')
    await until(`the processes of ${machine.name} have ended`, () => {
      const left = stillRunning(seen)
      signal(
        'SIGKILL',
        left.map(({ pid }) => pid),
      )
      return left.length === 0
    })
  }
  return {
    machine,
    dataDir,
    stead: { words: [...machine.enter, process.execPath, program], env },
    output: () => output,
    async keepTemplate() {
      if (golden) await keepGolden(golden, dataDir)
    },
    async start() {
      const started = spawn(enter, [...within, role], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      const before = output.length
      for (const stream of [started.stdout, started.stderr])
        stream.on('data', (text) => {
          output += text
        })
      await until(`${role} on ${machine.name} listens`, () => {
        if (started.exitCode !== null || started.signalCode)
          throw new Error(`${role} on ${machine.name} ended: ${output.slice(before).slice(-2000)}`)
        return listens()
      })
    },
    pid: () => child?.pid,
    hasEnded: () => child !== undefined && (child.exitCode !== null || child.signalCode !== null),
    async stop() {
      processes()
      child?.kill('SIGTERM')
      if (child && child.exitCode === null && !child.signalCode) await once(child, 'exit')
    },
    kill,
    suspend: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async cli(...words) {
      const run = spawn(enter, [...within, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let out = ''
      for (const stream of [run.stdout, run.stderr])
        stream.on('data', (text) => {
          out += text
        })
      const [code] = (await once(run, 'close')) as [number]
      return { code, out }
    },
    async remove() {
      await kill()
      await removeTree(dataDir)
    },
  }
}
