import { type ChildProcess, fork } from 'node:child_process'
import type { Call } from '../cli/command.ts'
import type { Config, SettingKey } from '../config.ts'
import { giveUpReserve } from '../platform/files/free-room.ts'
import { lockFile } from '../platform/files/lock-file.ts'
import { createLog, type Log } from '../platform/log/log.ts'
import { MAY_PASS } from '../platform/operator-error.ts'
import { complain } from '../platform/terminal/complain.ts'
import { livingBar, type ProgressBar } from '../platform/terminal/progress-bar.ts'
import { standardOutput } from '../platform/terminal/standard-output.ts'
import { version } from '../version.ts'
import { readCredentials } from './credentials.ts'
import { listeners } from './listeners.ts'
import type { WordsOfHost, WordsToControl } from './role-process.ts'
import { giveBackAfterStart } from './start/after-start.ts'
import { allocatorOf } from './start/allocator.ts'
import { banner, untilReady } from './start/banner.ts'
import { usableDataFolder } from './start/data-folder.ts'
import {
  dnsProcesses,
  edgeProcesses,
  GLANCE_MS,
  serveLock,
  untilFree,
  untilPredecessorsListenNoMore,
} from './start/free-port.ts'
import { prepareControlDatabase } from './start/prepare-control-database.ts'
import { CUT_OFF, endAtCtrlC, onStopSignals, type StopOrder } from './stop-signals.ts'

type PartName = 'control' | 'host' | 'edge' | 'dns'

const LONGEST_PAUSE_MS = 10_000
/** After running for this long, a process counts as healthy, and its next restart does not wait. */
const HEALTHY_MS = 30_000
const STOP_MS = 30_000
/** A process that has never run, and fails this often in a row, has a permanent problem. */
const MOST_FAILED_STARTS = 5
/** The exit code of a process whose configuration is unusable. A restart would not help. */
const UNUSABLE = 2

/**
 * Smaller young generations take less memory: 15 MB less over the three processes than with 8 MB, at the same start
 * speed.
 */
const EXEC_ARGV = ['--max-semi-space-size=4']

interface Supervised {
  readonly name: PartName
  /** Distinguishes several edges in the log. */
  readonly number: number
  child: ChildProcess | undefined
  isReady: boolean
  /** The time of the monotonic clock. */
  startedAt: number
  restart: NodeJS.Timeout | undefined
  failures: number
  hasRun: boolean
}

/** Runs `stead serve`: starts every role as a separate process, and restarts processes that die. */
export async function serve(call: Call<unknown, SettingKey>): Promise<number> {
  const { config } = call
  const log = createLog(config, 'supervisor')
  await usableDataFolder(config.dataDir)
  // Taking a lock writes to the disk, too.
  await giveUpReserve(config.dataDir)
  // Held as long as this process lives.
  const unlock = await lockFile(serveLock(config.dataDir), { patienceMs: GLANCE_MS })
  if (!unlock) {
    complain(
      `Stead already runs on this data folder: ${config.dataDir}\n` +
        'Stop it first, or use another folder and other ports (STEAD_DATA_DIR, STEAD_API_LISTEN, STEAD_EDGE_LISTEN).',
    )
    return UNUSABLE
  }
  const bar = livingBar(standardOutput)
  bar.show({ doing: `Starting Stead ${version} on ${config.dataDir}`, receivedBytes: 0, totalBytes: null })
  await beforeParts(call, log)
  const isFirst = (await readCredentials(config.dataDir)) === undefined
  const ended = untilStopped(supervise(log, call, ['control', 'host', ...edges(config), ...nameServers(config)], bar))
  const shown = new AbortController()
  untilReady(config, shown.signal)
    .then((words) => {
      bar.done()
      standardOutput.write(`${banner(config, words, { isFirst, isTerminal: standardOutput.isTTY })}\n`)
      giveBackAfterStart()
    })
    .catch(() => {})
  const code = await ended
  shown.abort()
  unlock()
  return code
}

/** Runs `stead edge` or `stead dns` with several processes, and restarts those that die. */
export async function runSeveral(call: Call<unknown, SettingKey>, part: 'edge' | 'dns'): Promise<number> {
  const { config } = call
  const log = createLog(config, 'supervisor')
  await beforeParts(call, log, part)
  return untilStopped(supervise(log, call, part === 'edge' ? edges(config) : nameServers(config)))
}

/** Prepares the schema. Reports an unusable database, folder, or address once, instead of once per process. */
async function beforeParts(call: Call<unknown, SettingKey>, log: Log, part?: 'edge' | 'dns'): Promise<void> {
  const { config } = call
  const startsNow = endAtCtrlC()
  await prepareControlDatabase(call)
  await untilPredecessorsListenNoMore(config.dataDir, log)
  const ofEdges = part === 'dns' ? [] : listeners(config).filter(({ role }) => role === 'edge')
  for (const { address, variable } of ofEdges) await untilFree(address, variable)
  startsNow()
}

const noBar: Pick<ProgressBar, 'show' | 'done'> = { show() {}, done() {} }

const edges = (config: Config): PartName[] => Array.from({ length: edgeProcesses(config) }, () => 'edge')

const nameServers = (config: Config): PartName[] => Array.from({ length: dnsProcesses(config) }, () => 'dns')

function untilStopped(supervisor: ReturnType<typeof supervise>): Promise<number> {
  return new Promise<number>((resolve) => {
    onStopSignals(
      (signal) => supervisor.stop(signal).then(resolve),
      () => supervisor.endNow(),
    )
    supervisor.gaveUp.then(() => resolve(UNUSABLE))
  })
}

/** @param bar shows the progress of the start, until `done` is called */
function supervise(
  log: Log,
  { given, environment }: Pick<Call, 'given' | 'environment'>,
  parts: readonly PartName[],
  bar: Pick<ProgressBar, 'show' | 'done'> = noBar,
) {
  const gaveUp = Promise.withResolvers<void>()
  const all: Supervised[] = parts.map((name, number) => ({
    name,
    number,
    child: undefined,
    isReady: false,
    startedAt: 0,
    restart: undefined,
    failures: 0,
    hasRun: false,
  }))
  let stopping = false
  let cutOff = false

  const tellControl = (words: WordsToControl) => {
    const control = all.find(({ name }) => name === 'control')?.child
    if (control?.connected) control.send(words, () => {})
  }
  const tell = () => {
    // One edge that listens is enough.
    const states = Object.fromEntries(
      parts.map((name) => [name, name === 'control' || all.some((part) => part.name === name && part.isReady)]),
    )
    tellControl({ parts: states })
  }
  const start = (part: Supervised) => {
    if (stopping) return
    part.startedAt = performance.now()
    const env = { ...allocatorOf(part.name), ...environment }
    const child = fork(process.argv[1] as string, [part.name, ...given], { execArgv: EXEC_ARGV, env })
    part.child = child
    child.on('message', ({ ready, progress, host }: { ready?: boolean } & WordsOfHost) => {
      if (progress) bar.show(progress)
      if (host) tellControl({ host })
      if (ready === undefined) return
      part.isReady = ready
      part.hasRun ||= ready
      tell()
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      log.error({ err: error, part: part.name, number: part.number }, 'could not start a process')
      ended(part, null, null)
    })
    child.on('exit', (code, signal) => ended(part, code, signal))
  }
  const ended = (part: Supervised, code: number | null, signal: string | null) => {
    part.isReady = false
    part.child = undefined
    if (stopping) return
    tell()
    if (code === UNUSABLE) {
      stop('a process cannot run').then(() => gaveUp.resolve())
      return
    }
    part.failures = performance.now() - part.startedAt > HEALTHY_MS ? 1 : part.failures + 1
    if (!part.hasRun && signal === null && code !== MAY_PASS && part.failures >= MOST_FAILED_STARTS) {
      complain(
        `The part "${part.name}" of Stead cannot start: it has ended ${part.failures} times in a row, for the reason above.`,
      )
      stop('a part cannot start').then(() => gaveUp.resolve())
      return
    }
    // The first restart is immediate, because visitors wait for it.
    const pauseMs = part.failures === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, 100 * 2 ** part.failures)
    log.error({ part: part.name, number: part.number, code, signal, pauseMs }, 'a process died, restarting it')
    part.restart = setTimeout(() => start(part), pauseMs)
  }
  /** @returns the exit code */
  const stop = async (reason: string): Promise<number> => {
    stopping = true
    bar.done()
    for (const { restart } of all) clearTimeout(restart)
    log.info({ reason }, 'stopping')
    // A starting process has no work in progress, and receives no order while it loads its code.
    const starting = all.filter(({ child, isReady }) => child && !isReady)
    for (const { name, number } of starting) log.info({ part: name, number }, 'ending a part that is still starting')
    await Promise.all(starting.map(({ child }) => child && endAtOnce(child)))
    // Visitor traffic first: requests in flight finish while PHP still runs.
    for (const names of [['edge', 'dns'], ['control'], ['host']])
      await Promise.all(all.map(({ name, child }) => names.includes(name) && child && end(child)))
    return cutOff ? CUT_OFF : 0
  }
  const endNow = () => {
    cutOff = true
    for (const { child } of all) child?.kill('SIGKILL')
  }
  for (const part of all) start(part)
  return { stop, endNow, gaveUp: gaveUp.promise }
}

const endAtOnce = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    child.once('exit', () => {
      clearTimeout(late)
      resolve()
    })
    const order: StopOrder = { stop: true }
    // Not a signal: its sender and the order of stopping would be unknown.
    child.send(order, (error) => {
      if (error) child.kill('SIGKILL')
    })
  })
}
