import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import type { Readable } from 'node:stream'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { killGroup, startGroup } from '../../../platform/processes/process-group.ts'
import { IdleMemory } from '../pool/idle-memory.ts'
import {
  PhpCrashed,
  type PhpExit,
  PhpNotReached,
  type PhpProcess,
  type PhpRequest,
  type PhpResponse,
  PhpTimeout,
  type PhpVersion,
  type RunTaskOptions,
} from '../runtime.ts'
import { checkedTaskOutput, checkTaskInput, type TaskInput, type TaskName, type TaskOutput } from '../tasks.ts'
import { limitTime } from '../time-limit.ts'
import { checkHead } from '../wasm/answers.ts'
import type { RequestHead, TaskHead } from '../wasm/frames.ts'
import { beforePhp, lowestPriority, priorityOf, taskTimeoutMs, tryPriority } from '../wasm/process.ts'
import { processTree, threadsOf, waitedMsOf } from '../wasm/process-tree.ts'
import { taskAsRequest } from '../wasm/task-request.ts'
import { readTaskResult } from '../wasm/task-result.ts'
import type { Cgroup } from './cgroups.ts'
import { endChildAt } from './end-child.ts'
import { callFastCgi, type FastCgiCall, type FastCgiResponse } from './fastcgi.ts'
import { inside } from './fpm-settings.ts'
import type { NativePhp } from './native-php.ts'
import { proportionalBytesOf } from './proportional-memory.ts'
import { variablesOf } from './variables.ts'
import { wakeChildren } from './wake-children.ts'

const keptErrorBytes = 4096
const readyWord = 'ready to handle connections'
/** Memory of a php-fpm master that has done nothing yet. */
const freshBytes = 20 << 20
/**
 * Run by a shell. Arguments: priority, address space limit of each process in kB, and the file through which it joins
 * its group, if any.
 */
const bounded = `${beforePhp}
  ulimit -v "$1"; ulimit -c 0
  test -z "$2" || echo $$ > "$2" || exit 1
  shift 2
  exec nice -n "$0" "$@"
`

/** Receives the messages of a site. The receiver may change. */
export interface Heard {
  /** Nothing is received before this resolves, while PHP waits. */
  isReady: Promise<unknown>
  onNote: (text: string) => void
  onAsk: (text: string) => Promise<string>
}

/** Parameters of one sandbox. */
export interface NativeLaunch {
  readonly php: NativePhp
  readonly heard: Heard
  /** Arguments of bubblewrap, up to PHP's own. */
  readonly args: readonly string[]
  /** The socket of php-fpm, after it was moved out of the sandbox. */
  readonly socket: string
  readonly mostAddressesKb: number
  /** Through which the kernel limits the sandbox as a whole, where supported. */
  readonly group: Cgroup | undefined
  /** Path of its network for nsenter(1). */
  readonly network: string
  /** Called with a process in the sandbox, by its ID outside. */
  readonly found: (pid: number) => void
  /** Called when php-fpm listens, before its first request. */
  readonly takeSocket: () => Promise<void>
  /** Called when the whole sandbox has ended. */
  readonly whenGone: () => void
}

export interface NativeOptions {
  readonly phpVersion: PhpVersion
  /** Also the site's key in budgets. */
  readonly siteDirectory: string
  readonly address: string
  readonly results: Budget
  /** As {@link PhpProcess.atOnce}. */
  readonly atOnce: number
  /** nice(1). */
  readonly priority: number
  readonly lowPriority: boolean
  readonly timeoutMs: number
}

/** Starts a sandbox as `WasmProcess` does, with a memory limit. */
export function spawnSandbox(
  { args, mostAddressesKb, group, network }: NativeLaunch,
  program: readonly string[],
  { priority, streams }: { priority: number; streams: 'pipe' | 'ignore' },
): ChildProcess {
  const shell = ['-c', bounded, String(priority), String(mostAddressesKb), group?.entry ?? '']
  // The last stream reports which process bubblewrap has created (`sandboxArguments`).
  const inNetwork = ['nsenter', `--net=${network}`, '--', 'bwrap', ...args, ...program]
  return startGroup('/bin/sh', [...shell, ...inNetwork], [streams, streams, 'pipe', 'pipe'])
}

/** Waits for the first process of a sandbox, and reports it. @throws PhpCrashed */
export async function findSandbox(child: ChildProcess, launch: NativeLaunch): Promise<void> {
  let text = ''
  for await (const piece of child.stdio[3] as Readable) {
    text += piece
    if (text.includes('}')) break
  }
  const pid = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1])
  if (!pid) throw new PhpCrashed('bubblewrap did not start')
  launch.found(pid)
}

/** Sets the priority of a process and its descendants. Calls `wanted` as late as possible for the current value. */
export function setPriorityOf(pid: number, wanted: () => number): void {
  writeFile(`/proc/${pid}/autogroup`, String(wanted())).catch(() => {})
  threadsOf(pid).then(
    (threads) => {
      for (const thread of threads) tryPriority(thread, Math.min(getPriority() + wanted(), lowestPriority))
    },
    () => {},
  )
}

/** The host's side of one site's php-fpm in its sandbox. */
export class NativeProcess implements PhpProcess {
  readonly pid: number
  readonly phpVersion: PhpVersion
  readonly exited: Promise<PhpExit>
  readonly worn = false
  onNote: ((text: string) => void) | undefined
  onAsk: ((text: string) => Promise<string>) | undefined
  onGrowth: (() => void) | undefined
  /** Never called, because native PHP does not report it. */
  onDiskRefusal: ((why: 'quota' | 'disk') => void) | undefined
  /** Jobs since the start. */
  jobs = 0
  /** An estimate, because measuring would delay the start. `MemoryWatch` measures within a second. */
  lastResidentBytes = freshBytes
  readonly #idleMemory = new IdleMemory()
  readonly #child: ChildProcess
  readonly #launch: NativeLaunch
  readonly #options: NativeOptions
  readonly #calls = new Set<FastCgiCall>()
  readonly #ready = Promise.withResolvers<void>()
  #address: string
  /** Process ID of php-fpm. */
  #master: number | undefined
  #lowPriority = false
  #isStopping = false
  #said = ''
  #endedBy: Error | undefined

  private constructor(child: ChildProcess, launch: NativeLaunch, options: NativeOptions) {
    this.#child = child
    this.#launch = launch
    this.#options = options
    this.#address = options.address
    this.pid = child.pid as number
    this.phpVersion = options.phpVersion
    const errors = child.stderr as Readable
    errors.on('data', (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-keptErrorBytes)
      if (this.#said.includes(readyWord)) this.#ready.resolve()
    })
    this.#ready.promise.catch(() => {})
    launch.heard.onNote = (text) => this.onNote?.(text)
    launch.heard.onAsk = async (text) => this.onAsk?.(text) ?? ''
    this.exited = this.#watchExit()
  }

  /** Starts php-fpm and waits until it listens. @throws PhpCrashed when it ends or is not ready in time */
  static async start(launch: NativeLaunch, options: NativeOptions): Promise<NativeProcess> {
    const priority = priorityOf(options.priority, options.lowPriority)
    const fpm = [launch.php.fpm, '-F', '-O', '-c', inside.ini, '-y', inside.fpmConfig]
    const child = spawnSandbox(launch, fpm, { priority, streams: 'ignore' })
    if (child.pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error]
      launch.whenGone()
      throw new PhpCrashed(`PHP could not be started: ${error.message}`)
    }
    const started = new NativeProcess(child, launch, options)
    const lift = limitTime({
      ms: options.timeoutMs,
      pid: started.pid,
      what: 'PHP was not ready',
      onOver: (error) => started.kill(error),
    })
    try {
      await Promise.all([findSandbox(child, launch), started.#ready.promise])
      await launch.takeSocket()
      // The last process of the chain, because php-fpm has no children yet.
      started.#master = processTree(started.pid).at(-1)
      return started
    } catch (error) {
      started.kill(error as Error)
      await started.exited
      throw started.#endedBy ?? error
    } finally {
      lift()
    }
  }

  get atOnce(): number {
    return this.#options.atOnce
  }

  async request(
    { body, ...rest }: PhpRequest,
    signal?: AbortSignal,
  ): Promise<PhpResponse & { readonly finished: Promise<void> }> {
    return this.#call({ ...rest, bodyBytes: body ? rest.bodyBytes : 0 }, body, signal)
  }

  async runTask<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    { timeoutMs = taskTimeoutMs, mayGoOn, isSafe = false }: RunTaskOptions = {},
  ): Promise<TaskOutput<Name>> {
    checkTaskInput(name, input)
    const task: TaskHead = { name, input, isSafe, marker: randomBytes(16).toString('hex') }
    const end = new AbortController()
    const lift = limitTime({
      ms: timeoutMs,
      pid: this.#master ?? this.pid,
      what: `PHP did not finish the task ${name}`,
      mayGoOn,
      onOver: (error) => end.abort(error),
    })
    const room = this.#options.results.share(this.#options.siteDirectory)
    try {
      const { head, body: bytes } = taskAsRequest(task, this.#address)
      const { body, finished } = await this.#call(head, bytes, end.signal)
      const result = await readTaskResult(body, task, room).finally(() => finished)
      return checkedTaskOutput(name, result)
    } catch (error) {
      // It prints without end, or has ended.
      if (error instanceof PhpCrashed) end.abort(error)
      throw error
    } finally {
      lift()
      room.free()
    }
  }

  async moveIn(change: { address: string }): Promise<void> {
    this.#address = change.address
    await this.runTask('move-in', {})
  }

  setLowPriority(low: boolean): void {
    this.#lowPriority = low
    this.#launch.group?.setLow(low).catch(() => {})
    setPriorityOf(this.pid, () => priorityOf(this.#options.priority, this.#lowPriority))
  }

  async residentBytes(): Promise<number> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return 0
    await this.#idleMemory.readAgain(this, async () => {
      this.lastResidentBytes = await proportionalBytesOf(this.pid)
    })
    return this.lastResidentBytes
  }

  async waitedMs(): Promise<number> {
    return waitedMsOf(this.#master ?? this.pid)
  }

  async stop(graceMs = 5000): Promise<void> {
    this.#isStopping = true
    const stopped = new PhpCrashed('PHP was stopped')
    const late = setTimeout(() => this.kill(stopped), graceMs)
    await Promise.all([...this.#calls].map(({ finished }) => finished.catch(() => {})))
    clearTimeout(late)
    this.kill(stopped)
    await this.exited
  }

  kill(error: Error): void {
    this.#endedBy ??= error
    killGroup(this.#child)
  }

  get isBusy(): boolean {
    return this.#calls.size > 0
  }

  /** Native PHP does not count what it writes. The host measures, and ends processes that exceed the limit. */
  setDisk(): void {}

  async #call(head: RequestHead, body: Readable | Buffer | null, signal?: AbortSignal) {
    if (this.#endedBy) return this.#notReached(this.#endedBy)
    if (this.#isStopping) throw new PhpCrashed('PHP was stopped')
    this.jobs++
    const { bodyBytes } = head
    const asked = { params: variablesOf(head), body, bodyBytes }
    const call = callFastCgi(this.#launch.socket, asked, (error) => this.#whyLost(signal?.reason ?? error))
    this.#calls.add(call)
    const end = () => void this.#end(call, signal?.reason)
    signal?.addEventListener('abort', end, { once: true })
    const over = () => {
      this.#calls.delete(call)
      signal?.removeEventListener('abort', end)
    }
    call.finished.then(over, over)
    const response = await this.#withChild(call)
    return { ...checkHead(response), body: response.body, finished: call.finished }
  }

  async #withChild(call: FastCgiCall): Promise<FastCgiResponse> {
    let isWaiting = true
    const { socket } = this.#launch
    if (this.#master)
      void wakeChildren({ pid: this.#master, socket }, () => (isWaiting && !this.#endedBy ? this.#calls.size : 0))
    try {
      return await call.head
    } catch (error) {
      if (error instanceof PhpNotReached) await this.#notReached(error)
      throw error
    } finally {
      isWaiting = false
    }
  }

  /**
   * Rejects a request that PHP never received. Waits until the whole process has ended, because the caller may start
   * the next one.
   * @throws PhpNotReached
   */
  async #notReached({ message }: Error): Promise<never> {
    const error = new PhpNotReached(message)
    this.kill(error)
    await this.exited
    throw error
  }

  /** Ends only the child that handles one request. The request fails when the child has ended. */
  async #end(call: FastCgiCall, error: Error): Promise<void> {
    try {
      if (!(await endChildAt(call.socket, this.pid))) call.fail(error)
    } catch {
      this.kill(error)
    }
  }

  /**
   * Returns why a connection was lost. Waits until the whole process has ended, because the caller may start the next
   * one.
   */
  async #whyLost(error: Error): Promise<Error> {
    if (this.#endedBy) await this.exited
    return this.#endedBy ?? error
  }

  async #watchExit(): Promise<PhpExit> {
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, string | null]
    const how = signal ?? `exit ${code}`
    const error = this.#endedBy ?? new PhpCrashed(`PHP's process ended (${how}) ${this.#said.trim()}`.trim())
    this.#endedBy = error
    this.#ready.reject(error)
    for (const call of [...this.#calls]) call.fail(call.isReached ? error : new PhpNotReached(error.message))
    this.#launch.whenGone()
    return { reason: error.message, timedOut: error instanceof PhpTimeout, code, signal }
  }
}
