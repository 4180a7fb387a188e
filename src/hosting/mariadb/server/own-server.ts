import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection } from 'mysql2/promise'
import type { FreeRoom } from '../../../platform/files/free-room.ts'
import { lockFile, type Unlock } from '../../../platform/files/lock-file.ts'
import type { Log } from '../../../platform/log/log.ts'
import { type Backoff, waitAfter } from '../../../platform/operations/worker/backoff.ts'
import { OperatorError } from '../../../platform/operator-error.ts'
import { connect, type Login, type ServerAddress } from './connect.ts'
import { type DatabaseServer, PHP_HOST } from './database-server.ts'
import { findPrograms, type MariaDbPrograms, serverEnvironment } from './programs.ts'
import { ADMINISTRATOR, ServerFolder } from './server-folder.ts'

/** A server that was killed first replays its log, which may take a while. */
const ANSWERS_MS = 600_000
const SAYS_SO_EVERY_MS = 5000
const LOOKS_EVERY_MS = 100
/** The server of a killed host flushes its data and ends within this time. */
const PREDECESSOR_ENDS_MS = 60_000
/** A server that aborts writes several thousand characters about its state after the reason. */
const KEPT_OUTPUT = 16_000
const crashes: Backoff = { firstMs: 500, factor: 2, mostMs: 60_000 }
/** A server that ran this long did not fail to start. */
const STABLE_MS = 60_000

export interface OwnServerOptions {
  /** Folder of the server: `<data>/mariadb`. */
  readonly folder: string
  /** User that the server runs as, because MariaDB rejects root. Null: the user that Stead runs as. */
  readonly uid: number | null
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Free space on the folder's disk. */
  readonly room?: FreeRoom | undefined
  /** Called at each failed attempt to start the server, with the reason for people. */
  readonly onFault?: (fault: string) => void
}

/**
 * Starts this host's own server, and resolves when it answers. Restarts it when it ends unexpectedly. A full disk is
 * not a failure: the host starts without the server, which follows when there is space.
 * @throws OperatorError when MariaDB is not installed or does not start
 */
export async function startOwnServer(options: OwnServerOptions): Promise<DatabaseServer> {
  const programs = await findPrograms()
  const folder = new ServerFolder(options.folder, options.uid)
  await folder.prepare(programs)
  const unlock = await lockFile(folder.lock, { patienceMs: PREDECESSOR_ENDS_MS })
  if (!unlock) throw new OperatorError(`Another Stead process runs the MariaDB in ${options.folder}`)
  try {
    await endLeft(folder, options.log)
    const server = new OwnServer(programs, folder, unlock, options)
    await server.start()
    return server
  } catch (error) {
    unlock()
    throw error
  }
}

interface Running {
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>
}

class OwnServer implements DatabaseServer {
  readonly version: string
  readonly address: ServerAddress
  readonly accountHost = 'localhost'
  readonly phpHost = PHP_HOST
  readonly socketFolder: string
  readonly dataFolder: string
  readonly temporaryFolder: string
  restarts = 0
  isUp = false
  fault: string | undefined
  readonly #programs: MariaDbPrograms
  readonly #folder: ServerFolder
  readonly #unlock: Unlock
  readonly #log: OwnServerOptions['log']
  readonly #room: FreeRoom | undefined
  readonly #onFault: (fault: string) => void
  /** Each process generates a new one. It is stored only beside the server, for MariaDB's tools. */
  readonly #password = randomBytes(24).toString('hex')
  readonly #stopping = new AbortController()
  #child: ChildProcess | undefined
  #supervised: Promise<void> = Promise.resolve()

  constructor(
    programs: MariaDbPrograms,
    folder: ServerFolder,
    unlock: Unlock,
    { log, room, onFault = () => {} }: OwnServerOptions,
  ) {
    this.version = programs.version
    this.address = { socketPath: folder.socket }
    this.dataFolder = folder.data
    this.temporaryFolder = folder.temporary
    this.socketFolder = dirname(folder.socket)
    this.#programs = programs
    this.#folder = folder
    this.#unlock = unlock
    this.#log = log
    this.#room = room
    this.#onFault = onFault
  }

  /** The process that starts the server becomes it. */
  get pid(): number | undefined {
    return this.isUp ? this.#child?.pid : undefined
  }

  /** @throws OperatorError */
  async start(): Promise<void> {
    await this.#folder.write(this.#password, this.#programs)
    const first = await this.#launch().catch((error: Error) => {
      if (!isForRoom(error.message)) throw error
      this.#cannotStart(error)
      return undefined
    })
    this.#supervised = this.#supervise(first)
  }

  connect(login: Login = { user: ADMINISTRATOR, password: this.#password }): Promise<Connection> {
    return connect(this.address, login)
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    this.isUp = false
    const child = this.#child
    child?.kill('SIGTERM')
    const tooLong = setTimeout(() => child?.kill('SIGKILL'), graceMs)
    await this.#supervised
    clearTimeout(tooLong)
    this.#unlock()
  }

  /** Resolves when it answers. @throws OperatorError when it ends before that, or never answers */
  async #launch(): Promise<Running> {
    const [command, words] = this.#folder.command(this.#programs, [
      this.#programs.server,
      `--defaults-file=${this.#folder.settings}`,
    ])
    const child = spawn(command, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: serverEnvironment(),
      cwd: '/',
      // Ctrl-C signals the terminal's whole group, but the server must outlive its clients.
      detached: true,
    })
    this.#child = child
    let said = ''
    child.stderr?.on('data', (text: Buffer) => {
      said = (said + text).slice(-KEPT_OUTPUT)
    })
    const ended = endOf(child, () => said)
    await this.#untilItAnswers(child, ended, () => said)
    this.isUp = true
    this.fault = undefined
    return { ended }
  }

  async #untilItAnswers(child: ChildProcess, ended: Promise<string>, said: () => string): Promise<void> {
    let end: string | undefined
    void ended.then((how) => {
      end = how
    })
    const begunAt = performance.now()
    let saidAt = begunAt
    while (!(await this.#answers())) {
      if (end !== undefined) throw new OperatorError(`MariaDB does not start: ${end}`, { exitCode: 1 })
      const now = performance.now()
      if (now - begunAt > ANSWERS_MS) {
        child.kill('SIGKILL')
        await ended
        throw new OperatorError(`MariaDB does not respond: ${faultIn(said())}`, { exitCode: 1 })
      }
      if (now - saidAt > SAYS_SO_EVERY_MS) {
        saidAt = now
        this.#log.info({ said: said().trim().split('\n').at(-1) }, 'MariaDB is starting')
      }
      await pause(LOOKS_EVERY_MS)
    }
  }

  async #answers(): Promise<boolean> {
    return this.connect().then(
      (connection) => {
        connection.destroy()
        return true
      },
      () => false,
    )
  }

  async #supervise(first: Running | undefined): Promise<void> {
    let failures = 0
    for (let running: Running | undefined = first; ; ) {
      const sinceMs = performance.now()
      if (running) {
        const how = await running.ended
        this.isUp = false
        if (this.#stopping.signal.aborted) return
        this.fault = describeServerFault(how)
        this.#log.error({ how }, 'MariaDB ended unexpectedly, restarting it')
        if (performance.now() - sinceMs > STABLE_MS) failures = 0
      }
      await this.#untilNext(waitAfter(++failures, crashes, Math.random()))
      if (this.#stopping.signal.aborted) return
      this.restarts++
      running = await this.#launch().catch((error: Error) => {
        if (!this.#stopping.signal.aborted) this.#cannotStart(error)
        return undefined
      })
      if (running) this.#log.info({}, 'MariaDB responds again')
    }
  }

  #cannotStart(error: Error): void {
    this.fault = describeServerFault(error.message)
    this.#log.error({ err: error, fault: this.fault }, 'could not start MariaDB, retrying')
    this.#onFault(this.fault)
  }

  /** Waits before the next attempt. After a full disk, the wait ends as soon as there is space. */
  async #untilNext(waitMs: number): Promise<void> {
    const until = performance.now() + waitMs
    const { signal } = this.#stopping
    const freeBytes = this.#room?.ask() ?? 0
    const lacksRoom = this.#room !== undefined && this.fault === DISK_FULL
    while (!signal.aborted && performance.now() < until) {
      if (lacksRoom && (this.#room?.ask() ?? 0) >= freeBytes + START_BYTES) return
      await pause(Math.min(LOOKS_EVERY_MS, until - performance.now()), undefined, { signal }).catch(() => {})
    }
  }
}

const DISK_FULL = 'The disk of the host is full. MariaDB restarts automatically when there is free space'
/** A start writes its temporary tablespace and finishes what a crash interrupted. */
const START_BYTES = 16 << 20

/** Whether the server's output says that the disk is full. */
const isForRoom = (said: string): boolean =>
  /error(:| number)? 28\b|Errcode: 28|No space left|disk (is )?full|out of disk space/i.test(said)

const describeServerFault = (said: string): string => (isForRoom(said) ? DISK_FULL : said)

function endOf(child: ChildProcess, said: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(`${signal ?? `exit ${code}`}: ${faultIn(said())}`))
  })
}

/** Returns the part of the output that a person needs. */
function faultIn(said: string): string {
  const lines = said.trim().split('\n')
  const faults = lines.filter((line) => line.includes('[ERROR]'))
  const last = (faults.length > 0 ? faults : lines).slice(-3)
  // Consequences of a full disk fill the lines after it.
  const lacksRoom = faults.findLast(isForRoom)
  return [...(lacksRoom === undefined || last.includes(lacksRoom) ? [] : [lacksRoom]), ...last].join('\n')
}

/**
 * Ends a server on the same data whose host was killed. It already has its signal, so this waits first. Two could not
 * run anyway, because InnoDB locks its files.
 */
async function endLeft(folder: ServerFolder, log: OwnServerOptions['log']): Promise<void> {
  let left = await serversOf(folder.settings)
  if (left.length === 0) return
  log.warn({ pids: left }, 'stopping the MariaDB of a killed host first')
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of left) process.kill(pid, signal)
    const giveUpAt = performance.now() + PREDECESSOR_ENDS_MS
    while (left.length > 0 && performance.now() < giveUpAt) {
      await pause(LOOKS_EVERY_MS)
      left = await serversOf(folder.settings)
    }
  }
}

/** Returns the processes that were started with exactly these settings. */
async function serversOf(settings: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const words = (await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '')).split('\0')
    if (words[1] === `--defaults-file=${settings}`) found.push(Number(name))
  }
  return found
}
