import type { Readable } from 'node:stream'
import type { Share } from '../../../platform/budgets/budget.ts'
import { PhpCrashed } from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import type { TaskHead } from './frames.ts'

/** The most that a task may print, including the result. A site's plugins may print anything into it. */
export const mostPrintedBytes = 64 << 20

/**
 * The length to which a message is cut. The site controls it, and it appears in logs and in the operations that an
 * account sees.
 */
const mostMessageCharacters = 1000

/**
 * Reads a task's result from what PHP prints: JSON between two markers. Only that is kept and counted. All else is
 * dropped as it arrives.
 * @throws PhpTaskError when the result is missing or longer than `room` allows, or when the task reports a failure;
 * PhpCrashed when the task prints endlessly: PHP is still running then
 */
export async function readTaskResult(output: Readable, task: TaskHead, room: Share): Promise<unknown> {
  const between = new BetweenMarkers(Buffer.from(task.marker), room)
  let printed = 0
  for await (const chunk of output) {
    printed += (chunk as Buffer).length
    if (printed > mostPrintedBytes)
      throw new PhpCrashed(`the task ${task.name} printed more than ${mostPrintedBytes >> 20} MB`)
    between.take(chunk as Buffer)
  }
  const { text } = between
  if (between.overflown) throw new PhpTaskError(`the result is too long (task ${task.name})`)
  if (text === undefined) throw new PhpTaskError(`no result (task ${task.name})`)
  const answer = readJson(text, task)
  if (answer.error !== undefined)
    throw new PhpTaskError(String(answer.error).slice(0, mostMessageCharacters), task.name, answer.isEarly === true)
  return answer.result
}

interface Printed {
  readonly result?: unknown
  readonly error?: unknown
  readonly isEarly?: unknown
}

function readJson(text: string, task: TaskHead): Printed {
  try {
    return (JSON.parse(text) ?? {}) as Printed
  } catch {
    // Not the parser's own message, because it quotes what the site printed.
    throw new PhpTaskError(`the result makes no sense (task ${task.name})`)
  }
}

/** Keeps the text between the first two markers, and otherwise no more than a marker's length. */
class BetweenMarkers {
  /** The text between the markers, once the second marker has arrived. */
  text: string | undefined
  overflown = false
  readonly #marker: Buffer
  readonly #room: Share
  readonly #kept: Buffer[] = []
  #inside = false
  /** The end of the output so far, which may be the beginning of a marker. */
  #tail: Buffer = Buffer.alloc(0)

  constructor(marker: Buffer, room: Share) {
    this.#marker = marker
    this.#room = room
  }

  take(chunk: Buffer): void {
    let rest = Buffer.concat([this.#tail, chunk])
    while (this.text === undefined && !this.overflown) {
      const at = rest.indexOf(this.#marker)
      if (at < 0) break
      if (this.#inside) {
        this.#keep(rest.subarray(0, at))
        if (!this.overflown) this.text = Buffer.concat(this.#kept.splice(0)).toString()
      }
      this.#inside = true
      rest = rest.subarray(at + this.#marker.length)
    }
    if (this.text !== undefined || this.overflown) return
    const whole = Math.max(0, rest.length - this.#marker.length + 1)
    if (this.#inside) this.#keep(rest.subarray(0, whole))
    this.#tail = Buffer.from(rest.subarray(whole))
  }

  #keep(bytes: Buffer): void {
    if (this.#room.take(bytes.length)) {
      // A copy: a piece of a few bytes would keep the 64 kB that it arrived in.
      if (bytes.length > 0) this.#kept.push(Buffer.from(bytes))
      return
    }
    this.overflown = true
    this.#kept.length = 0
    this.#room.free()
  }
}
