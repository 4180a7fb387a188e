import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { killGroup } from '../../../platform/processes/process-group.ts'
import { isOnMariaDb } from '../../mariadb/on-mariadb.ts'
import { DATABASE_FOLDER } from '../../site-database/sqlite-place.ts'
import type { PhpVersion } from '../runtime.ts'
import { type PhpCommand, PhpCrashed, type PhpExit, type PhpProcess, PhpTimeout, type TakeTurn } from '../runtime.ts'
import { priorityOf } from '../wasm/process.ts'
import { waitedMsOf } from '../wasm/process-tree.ts'
import { inside } from './fpm-settings.ts'
import { findSandbox, type NativeLaunch, type NativeOptions, setPriorityOf, spawnSandbox } from './process.ts'
import { proportionalBytesOf } from './proportional-memory.ts'

/** PHP's command line in a separate sandbox, which starts when the command is known. */
export class NativeCommand implements PhpProcess {
  readonly phpVersion: PhpVersion
  readonly exited: Promise<PhpExit>
  readonly worn = true
  onNote: ((text: string) => void) | undefined
  onAsk: ((text: string) => Promise<string>) | undefined
  onGrowth: (() => void) | undefined
  lastResidentBytes = 0
  readonly #launch: NativeLaunch
  readonly #options: NativeOptions
  readonly #exited = Promise.withResolvers<PhpExit>()
  readonly #killed = Promise.withResolvers<void>()
  #child: ChildProcess | undefined
  #lowPriority = false
  #endedBy: Error | undefined

  constructor(launch: NativeLaunch, options: NativeOptions) {
    this.#launch = launch
    this.#options = options
    this.#lowPriority = options.lowPriority
    this.phpVersion = options.phpVersion
    this.exited = this.#exited.promise
    launch.heard.onNote = (text) => this.onNote?.(text)
    launch.heard.onAsk = async (text) => this.onAsk?.(text) ?? ''
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /**
   * Native PHP locks the database file on its own, so it takes no turns. If a database file has changed by the end,
   * other processes must drop their cached state.
   */
  runCommand(args: readonly string[], takeTurn: TakeTurn): PhpCommand {
    if (this.#child) throw new Error('PHP is busy: one job at a time')
    if (this.#endedBy) throw this.#endedBy
    const priority = priorityOf(this.#options.priority, this.#lowPriority)
    const php = [this.#launch.php.cli, '-c', inside.ini, ...args]
    const child = spawnSandbox(this.#launch, php, { priority, streams: 'pipe' })
    this.#child = child
    const [input, output, errors] = [child.stdin as Writable, child.stdout as Readable, child.stderr as Readable]
    input.on('error', () => {}) // it reads no more input
    return { input, output, errors, finished: this.#finish(child, takeTurn) }
  }

  async request(): Promise<never> {
    throw new Error('it runs one command and no requests')
  }

  async runTask(): Promise<never> {
    throw new Error('it runs one command and no tasks')
  }

  async moveIn(): Promise<void> {}

  setLowPriority(low: boolean): void {
    this.#lowPriority = low
    this.#launch.group?.setLow(low).catch(() => {})
    if (this.#child) setPriorityOf(this.pid, () => priorityOf(this.#options.priority, this.#lowPriority))
  }

  async residentBytes(): Promise<number> {
    this.lastResidentBytes = this.#child && !this.#isGone() ? await proportionalBytesOf(this.pid) : 0
    return this.lastResidentBytes
  }

  async waitedMs(): Promise<number> {
    return this.#child ? waitedMsOf(this.pid) : 0
  }

  async stop(graceMs = 5000): Promise<void> {
    const late = setTimeout(() => this.kill(new PhpCrashed('PHP was stopped')), this.#child ? graceMs : 0)
    await this.exited
    clearTimeout(late)
  }

  kill(error: Error): void {
    this.#endedBy ??= error
    this.#killed.resolve()
    if (this.#child) killGroup(this.#child)
    else this.#gone(null, null)
  }

  #isGone(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null
  }

  async #finish(child: ChildProcess, takeTurn: TakeTurn): Promise<number> {
    const gone = once(child, 'exit') as Promise<[number | null, string | null]>
    const before = await stateOf(this.#options.siteDirectory)
    // PHP first sends a message to the host and waits for the answer (tasks/native.php). By then the sandbox has been
    // found.
    const isFound = findSandbox(child, this.#launch)
    this.#launch.heard.isReady = isFound.catch((error: Error) => this.kill(error))
    const [code, signal] = await gone
    const after = await stateOf(this.#options.siteDirectory)
    // The caller that ends it may wait for its end while holding the turn that this would wait for.
    if (before !== after || isOnMariaDb(this.#options.siteDirectory))
      await Promise.race([takeTurn().then((end) => end(true)), this.#killed.promise])
    this.#gone(code, signal)
    if (this.#endedBy) throw this.#endedBy
    if (code === null) throw new PhpCrashed(`PHP's process ended (${signal})`)
    return code
  }

  #gone(code: number | null, signal: string | null): void {
    this.#launch.whenGone()
    const error = this.#endedBy
    const reason = error?.message ?? `exit ${code ?? signal}`
    this.#exited.resolve({ reason, timedOut: error instanceof PhpTimeout, code, signal })
  }
}

/** Returns a fingerprint that changes when a site's database is written: the size and time of each of its files. */
async function stateOf(directory: string): Promise<string> {
  const folder = join(directory, DATABASE_FOLDER)
  const names = (await readdir(folder).catch(() => [])).sort()
  const files = names.map(async (name) => {
    const file = await stat(join(folder, name), { bigint: true }).catch(() => undefined)
    return `${name} ${file?.size} ${file?.mtimeNs}`
  })
  return (await Promise.all(files)).join('\n')
}
