import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { BoundedOutput, type TryWrite } from './bounded-output.ts'
import type { WordsOutput } from './fresh-line.ts'

/**
 * The part of a Node stream that controls whether its writes block. It is undocumented but stable, because much depends
 * on it.
 */
interface StreamHandle {
  readonly _handle?: { setBlocking?(blocking: boolean): unknown }
}

/** Standard output or error, also in the form for `livingBar`. */
class StandardOutput extends BoundedOutput implements WordsOutput {
  readonly isTTY: boolean
  readonly #fd: 1 | 2

  constructor(fd: 1 | 2) {
    // The first line determines the type of output.
    let tryWrite: TryWrite | undefined
    super((bytes) => {
      tryWrite ??= writesTo(fd)
      return tryWrite(bytes)
    })
    this.isTTY = isatty(fd)
    this.#fd = fd
    process.on('exit', () => this.flush())
  }

  get columns(): number {
    return this.isTTY ? streamOf(this.#fd).columns : 0
  }
}

const streamOf = (fd: 1 | 2) => (fd === 1 ? process.stdout : process.stderr)

function writesTo(fd: 1 | 2): TryWrite {
  const reopened = isPipeOrTerminal(fd) ? openAgain(fd) : undefined
  if (reopened !== undefined || !isStream(fd)) return (bytes) => writtenTo(reopened ?? fd, bytes)
  // Every process that starts or ends with this output makes its writes block again, because the setting is shared by
  // all.
  const { _handle: handle } = streamOf(fd) as StreamHandle
  return (bytes) => {
    handle?.setBlocking?.(false)
    return writtenTo(fd, bytes)
  }
}

/** Opens the same pipe or terminal only for this process, because the blocking mode must not affect others. */
function openAgain(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // It belongs to another user.
    return undefined
  }
}

function writtenTo(fd: number, bytes: Buffer): ReturnType<TryWrite> {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'full' : 'failed'
  }
}

const isPipeOrTerminal = (fd: number): boolean => isatty(fd) || is(fd, 'isFIFO')

const isStream = (fd: number): boolean => is(fd, 'isFIFO') || is(fd, 'isSocket')

function is(fd: number, kind: 'isFIFO' | 'isSocket'): boolean {
  try {
    return fstatSync(fd)[kind]()
  } catch {
    // The descriptor is closed.
    return false
  }
}

/** For log lines, and for messages that no reader may block. Commands print their results with `process.stdout`. */
export const standardOutput = new StandardOutput(1)
export const standardError = new StandardOutput(2)
