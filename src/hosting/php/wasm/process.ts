import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { killGroup, startGroup } from '../../../platform/processes/process-group.ts'
import { readAtMost } from '../../../platform/read-at-most.ts'
import { IdleMemory } from '../pool/idle-memory.ts'
import {
  type PhpCommand,
  PhpCrashed,
  type PhpExit,
  type PhpProcess,
  type PhpRequest,
  type PhpResponse,
  PhpTimeout,
  type PhpVersion,
  type RunTaskOptions,
  type TakeTurn,
} from '../runtime.ts'
import { checkedTaskOutput, checkTaskInput, type TaskInput, type TaskName, type TaskOutput } from '../tasks.ts'
import { limitTime } from '../time-limit.ts'
import { expectAnswer, type JobAnswer } from './answers.ts'
import { expectCommand } from './command-answer.ts'
import type { Launch } from './containment.ts'
import {
  type ChildReady,
  type ChildStart,
  type CommandHead,
  type DiskRoom,
  encodeFrame,
  Frame,
  type RequestHead,
  readFrames,
  type TaskHead,
  type TurnEnd,
} from './frames.ts'
import { type Egress, serveEgress } from './network/egress.ts'
import { residentBytesOf, threadsOf, waitedMsOf } from './process-tree.ts'
import { readTaskResult } from './task-result.ts'

const keptErrorBytes = 4096
/** The most machine code of PHP. It is 4 MB after a day of pages. */
const mostCodeBytes = 64 << 20
export const taskTimeoutMs = 60_000
export const lowestPriority = 19
/** Of autogroups with these priorities, the lower one gets about a seventh of the processor time of the other. */
const BEHIND = 9
/**
 * Returns the priority of a site's PHP. PHP that falls behind others does so relative to them: where programs that are
 * not Stead's compete with PHP, the lowest priority of all would mean no processor time at all.
 * @param usual priority of PHP
 * @param fallsBehind whether this PHP falls behind other PHP
 */
export const priorityOf = (usual: number, fallsBehind = false): number =>
  fallsBehind ? Math.min(usual + BEHIND, lowestPriority) : usual
/**
 * The script that a shell runs before PHP starts, with PHP's priority as the first argument.
 *
 * - Not after the start: what the child starts at once would keep the usual priority.
 * - A process started separately is a session, and Linux weighs sessions against each other (sched(7), autogroup).
 * There `nice`   counts only within the session.
 * - PHP must stop when its jobs end. Signals that every process gets (Ctrl-C, systemd's default way to stop a service)
 * would   interrupt the current page. Bubblewrap inherits that they are ignored. Node does not, and ignores them itself
 * (child/main.ts).
 */
export const beforePhp = `
  { echo "$0" > /proc/self/autogroup; } 2>/dev/null
  trap '' INT TERM HUP
`
const thenPhp = `${beforePhp} exec nice -n "$0" "$@"`

export interface ProcessOptions {
  readonly phpVersion: PhpVersion
  /** The owner's key in budgets. */
  readonly siteDirectory: string
  readonly egress: Omit<Egress, 'site'>
  /** The results of tasks while they are read. */
  readonly results: Budget
  /** As for nice(1). */
  readonly priority: number
  /** Whether it starts at the lowest priority of all instead. */
  readonly lowPriority: boolean
  readonly timeoutMs: number
  /** Ends it while it starts. */
  readonly signal?: AbortSignal | undefined
}

/** One child process with PHP in it, seen from the parent. */
export class WasmProcess implements PhpProcess {
  readonly pid: number
  readonly phpVersion: PhpVersion
  readonly exited: Promise<PhpExit>
  hasMachineCode = false
  worn = false
  onNote: ((text: string) => void) | undefined
  onAsk: ((text: string) => Promise<string>) | undefined
  onGrowth: (() => void) | undefined
  /** Called when PHP reports that it could not write something. The report may be wrong: the site controls it. */
  onDiskRefusal: ((why: 'quota' | 'disk') => void) | undefined
  /** The number of jobs since the start. */
  jobs = 0
  readonly #child: ChildProcess
  readonly #jobs: Duplex
  readonly #answers: Duplex
  readonly #ready = Promise.withResolvers<ChildReady>()
  #answer: JobAnswer | undefined
  #takeTurn: TakeTurn | undefined
  /** Ends the turn at the database that the child has, or waits for. */
  #turn: Promise<(wrote: boolean) => void> | undefined
  /** Whether PHP waits for the host's answer. */
  #isAsking = false
  readonly #results: Budget
  readonly #siteDirectory: string
  #lastErrors = ''
  #endedBy: Error | undefined
  readonly #priority: number
  #lowPriority = false
  #measuredBytes = 0
  readonly #idleMemory = new IdleMemory()
  #phpBytes = 0

  private constructor(child: ChildProcess, options: ProcessOptions) {
    this.#child = child
    this.pid = child.pid as number
    this.phpVersion = options.phpVersion
    this.#results = options.results
    this.#siteDirectory = options.siteDirectory
    this.#priority = options.priority
    const [, , errors, jobs, answers, egressSocket] = child.stdio as unknown as [
      null,
      null,
      Readable,
      Duplex,
      Duplex,
      Duplex,
    ]
    this.#jobs = jobs
    this.#answers = answers
    jobs.on('error', () => {}) // the child is gone; its exit has the reason
    answers.on('error', () => {})
    errors.on('data', (text: Buffer) => {
      this.#lastErrors = (this.#lastErrors + text.toString()).slice(-keptErrorBytes)
    })
    readFrames(
      answers,
      (kind, payload) => this.#take(kind, payload),
      (error) => this.kill(new PhpCrashed(`PHP's process sent an invalid message: ${error.message}`)),
    )
    serveEgress(egressSocket, { ...options.egress, site: options.siteDirectory })
    this.#ready.promise.catch(() => {})
    this.exited = this.#watchExit()
  }

  /**
   * Starts a child and waits until PHP is ready in it.
   * @throws PhpCrashed when it ends or is not ready in time; the signal's reason
   */
  static async start(
    launch: Launch,
    told: Omit<ChildStart, 'phpModule' | 'uid' | 'mounts' | 'fixedFolders' | 'watchParent'>,
    options: ProcessOptions,
  ): Promise<WasmProcess> {
    options.signal?.throwIfAborted()
    const priority = priorityOf(options.priority, options.lowPriority)
    const child = startGroup(
      '/bin/sh',
      ['-c', thenPhp, String(priority), launch.command, ...launch.args],
      // Jobs, answers, outgoing connections, and the parent's life if no sandbox watches it.
      [
        told.command ? 'pipe' : 'ignore',
        'ignore',
        'pipe',
        'pipe',
        'pipe',
        'pipe',
        ...(launch.sandboxed ? [] : ['pipe' as const]),
      ],
    )
    if (child.pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error]
      throw new PhpCrashed(`PHP could not be started: ${error.message}`)
    }
    const started = new WasmProcess(child, options)
    const { phpModule, mounts, fixedFolders, uid } = launch
    const start: ChildStart = { ...told, phpModule, mounts, fixedFolders, uid, watchParent: !launch.sandboxed }
    started.#jobs.write(encodeFrame(Frame.start, start))
    const lift = limitTime({
      ms: options.timeoutMs,
      pid: started.pid,
      what: 'PHP was not ready',
      onOver: (error) => started.kill(error),
    })
    const abort = () => started.kill(options.signal?.reason)
    options.signal?.addEventListener('abort', abort)
    try {
      const ready = await started.#ready.promise
      // It was ended, and its last words were still on the way.
      if (started.#endedBy) throw started.#endedBy
      started.#measuredBytes = ready.residentBytes
      started.hasMachineCode = ready.hasMachineCode
      return started
    } finally {
      lift()
      options.signal?.removeEventListener('abort', abort)
    }
  }

  async request(
    request: PhpRequest,
    signal?: AbortSignal,
  ): Promise<PhpResponse & { readonly finished: Promise<void> }> {
    const { body, ...rest } = request
    const head: RequestHead = { ...rest, bodyBytes: body ? request.bodyBytes : 0 }
    const answer = this.#begin()
    signal?.addEventListener('abort', () => this.kill(signal.reason), { once: true })
    const [start, end] = [encodeFrame(Frame.request, head), encodeFrame(Frame.end, undefined)]
    // In one piece, so that PHP's process wakes once.
    if (!body) this.#jobs.write(Buffer.concat([start, end]))
    else {
      this.#jobs.write(start)
      await this.#sendBody(body, request.bodyBytes).catch((error) =>
        // PHP waits for bytes that will not arrive.
        this.kill(
          error instanceof PhpCrashed ? error : new PhpCrashed(`the request's body broke off: ${String(error)}`),
        ),
      )
      this.#jobs.write(end)
    }
    const response = await answer.head
    return { ...response, finished: answer.finished.then(() => {}) }
  }

  runCommand(args: readonly string[], takeTurn: TakeTurn): PhpCommand {
    if (this.#answer) throw new Error('PHP is busy: one job at a time')
    if (this.#endedBy) throw this.#endedBy
    const { output, errors, ...answer } = expectCommand(this.#answers)
    this.#answer = answer
    this.#takeTurn = takeTurn
    this.jobs++
    const input = this.#child.stdin as Writable
    input.on('error', () => {}) // it has stopped reading
    this.#jobs.write(encodeFrame(Frame.command, { args } satisfies CommandHead))
    return { input, output, errors, finished: answer.finished.then(({ exitCode }) => Number(exitCode) & 255) }
  }

  async runTask<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    { isSafe = false, ...options }: RunTaskOptions = {},
  ): Promise<TaskOutput<Name>> {
    return this.#task({ name, input, isSafe }, options)
  }

  async machineCode(): Promise<Buffer> {
    const answer = this.#begin()
    this.#jobs.write(encodeFrame(Frame.code, undefined))
    const { body } = await answer.head
    const code = await readAtMost(body, mostCodeBytes)
    if (!code) throw new PhpCrashed('what it says to have compiled is too large')
    await answer.finished
    return code
  }

  async moveIn(change: { address: string }): Promise<void> {
    await this.#task({ name: 'move-in', input: {}, ...change })
  }

  setLowPriority(low: boolean): void {
    if (process.getuid?.() !== 0) return // other users may lower a priority, but never raise it again
    this.#lowPriority = low
    // The priority that is wanted by then.
    const wanted = () => priorityOf(this.#priority, this.#lowPriority)
    writeFile(`/proc/${this.pid}/autogroup`, String(wanted())).catch(() => {})
    threadsOf(this.pid).then(
      (threads) => {
        for (const thread of threads) tryPriority(thread, Math.min(getPriority() + wanted(), lowestPriority))
      },
      () => {},
    )
  }

  /** Counts memory that PHP has requested even before it is used, because PHP fills it within a moment. */
  get lastResidentBytes(): number {
    return Math.max(this.#measuredBytes, this.#phpBytes)
  }

  async residentBytes(): Promise<number> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return 0
    await this.#idleMemory.readAgain(this, async () => {
      this.#measuredBytes = (await residentBytesOf(this.pid)) ?? this.#measuredBytes
    })
    return this.lastResidentBytes
  }

  async waitedMs(): Promise<number> {
    return waitedMsOf(this.pid)
  }

  async stop(graceMs = 5000): Promise<void> {
    // A running job may ask questions until its end, and would get no answers after this.
    const end = () => this.#jobs.end()
    if (this.#answer) this.#answer.finished.then(end, end)
    else end()
    const late = setTimeout(() => this.kill(new PhpCrashed('PHP was stopped')), graceMs)
    await this.exited
    clearTimeout(late)
  }

  kill(error: Error): void {
    this.#endedBy ??= error
    killGroup(this.#child)
  }

  get isBusy(): boolean {
    return this.#answer !== undefined
  }

  /** Sends the disk space that the site uses. This is valid only if nothing has run since before the measurement. */
  setDisk(room: DiskRoom): void {
    this.#jobs.write(encodeFrame(Frame.room, room))
  }

  #begin(): JobAnswer {
    if (this.#answer) throw new Error('PHP is busy: one job at a time')
    if (this.#endedBy) throw this.#endedBy
    const answer = expectAnswer(this.#answers)
    this.#answer = answer
    this.jobs++
    return answer
  }

  async #sendBody(body: Readable, bytes: number): Promise<void> {
    let sent = 0
    for await (const chunk of body) {
      sent += (chunk as Buffer).length
      if (sent > bytes) throw new Error('more bytes than announced')
      for (let at = 0; at < chunk.length; at += 1 << 19) {
        const piece = (chunk as Buffer).subarray(at, at + (1 << 19))
        if (!this.#jobs.write(encodeFrame(Frame.data, piece)))
          await Promise.race([once(this.#jobs, 'drain'), this.exited])
        if (this.#endedBy) throw this.#endedBy
      }
    }
    if (sent < bytes) throw new Error('fewer bytes than announced')
  }

  async #task<Name extends TaskName>(
    asked: Omit<TaskHead, 'marker'> & { name: Name },
    { timeoutMs = taskTimeoutMs, mayGoOn }: RunTaskOptions = {},
  ): Promise<TaskOutput<Name>> {
    checkTaskInput(asked.name, asked.input)
    const task = { ...asked, marker: randomBytes(16).toString('hex') }
    const answer = this.#begin()
    const lift = limitTime({
      ms: timeoutMs,
      pid: this.pid,
      what: `PHP did not finish the task ${task.name}`,
      mayGoOn,
      onOver: (error) => this.kill(error),
    })
    try {
      this.#jobs.write(encodeFrame(Frame.task, task))
      const response = await answer.head
      const result = await this.#result(response.body, task).finally(() => answer.finished)
      return checkedTaskOutput(asked.name, result)
    } finally {
      lift()
    }
  }

  async #result(output: Readable, task: TaskHead): Promise<unknown> {
    const room = this.#results.share(this.#siteDirectory)
    try {
      return await readTaskResult(output, task, room)
    } catch (error) {
      if (error instanceof PhpCrashed) this.kill(error)
      throw error
    } finally {
      room.free()
    }
  }

  #take(kind: number, payload: Buffer): void {
    if (kind === Frame.start) {
      this.#ready.resolve(JSON.parse(payload.toString()) as ChildReady)
      return
    }
    if (kind === Frame.memory) {
      this.#phpBytes = Number((JSON.parse(payload.toString()) as { bytes: number }).bytes) || 0
      this.onGrowth?.()
      return
    }
    const answer = this.#answer
    if (!answer) throw new PhpCrashed(`frame ${kind} without a job`)
    if (kind === Frame.note) {
      this.onNote?.(payload.toString())
      return
    }
    if (kind === Frame.needTurn) {
      this.#waitForTurn()
      return
    }
    if (kind === Frame.turnEnd) {
      this.#endTurn((JSON.parse(payload.toString()) as TurnEnd).wrote !== false)
      return
    }
    if (kind === Frame.ask) {
      if (this.#isAsking) throw new PhpCrashed('a question before the answer to the last one')
      this.#isAsking = true
      void this.#reply(payload.toString())
      return
    }
    if (kind === Frame.end) {
      const end = JSON.parse(payload.toString()) as { residentBytes: number; worn: boolean; diskRefusal?: string }
      this.#measuredBytes = Number(end.residentBytes) || 0
      this.worn ||= Boolean(end.worn)
      this.#answer = undefined
      if (end.diskRefusal) this.onDiskRefusal?.(end.diskRefusal === 'disk' ? 'disk' : 'quota')
    }
    answer.take(kind, payload)
  }

  #waitForTurn(): void {
    if (!this.#takeTurn || this.#turn) throw new PhpCrashed('a turn at the database that it cannot have')
    this.#turn = this.#takeTurn()
    this.#turn.then(
      () => this.#jobs.write(encodeFrame(Frame.turn, undefined)),
      (error) => this.kill(error),
    )
  }

  #endTurn(wrote: boolean): void {
    const turn = this.#turn
    this.#turn = undefined
    turn?.then(
      (end) => end(wrote),
      () => {},
    )
  }

  /** Always replies, because PHP waits for it. The reply is empty without a listener, or if the host fails. */
  async #reply(text: string): Promise<void> {
    const words = await (this.onAsk?.(text) ?? Promise.resolve('')).catch(() => '')
    this.#isAsking = false
    this.#jobs.write(encodeFrame(Frame.answer, Buffer.from(words)))
  }

  async #watchExit(): Promise<PhpExit> {
    this.#child.once('exit', () => {
      // Unread data would keep the streams, and with them 'close', from ending.
      this.#answers.resume()
      this.#jobs.resume()
      setTimeout(() => {
        for (const stream of this.#child.stdio) stream?.destroy()
      }, 1000).unref()
    })
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, string | null]
    // It may have died during a write. The next process that opens the database rolls that back.
    this.#endTurn(true)
    const how = signal ?? `exit ${code}`
    const error = this.#endedBy ?? new PhpCrashed(`PHP's process ended (${how}) ${this.#lastErrors.trim()}`.trim())
    this.#endedBy = error
    this.#ready.reject(error)
    this.#answer?.fail(error)
    this.#answer = undefined
    return { reason: error.message, timedOut: error instanceof PhpTimeout, code, signal }
  }
}

/** Sets the priority of a thread, if the thread still exists and the change is permitted. */
export function tryPriority(id: number, priority: number): void {
  try {
    setPriority(id, priority)
  } catch {
    // Gone in the meantime, or not permitted. The work is still done, only sooner or later.
  }
}
