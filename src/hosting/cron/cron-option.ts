import { UnreadableDatabase } from './event-source.ts'

/** A hook that WordPress will call. */
export interface ScheduledEvent {
  readonly hook: string
  /** Milliseconds UTC. */
  readonly at: number
}

/** Events rarely have nested arguments at all. */
const MOST_DEPTH = 50

/**
 * Reads WordPress' option `cron` as PHP's serialize() wrote it: `{time: {hook: {key: event}}, version: 2}`. Skips the
 * contents of events, objects included, without deserializing them. Runs in linear time.
 * @throws UnreadableDatabase when the text has any other form
 */
export function* cronEvents(serialized: Buffer): Generator<ScheduledEvent> {
  // One character per byte, as PHP counts. The hooks that matter are ASCII.
  const reader = new Reader(serialized.toString('latin1'))
  for (const time of reader.entries()) {
    if (typeof time === 'string') reader.skip(1)
    else
      for (const hook of reader.entries()) {
        const before = reader.at
        if (reader.arrayLength() > 0) yield { hook: String(hook), at: time * 1000 }
        reader.at = before
        reader.skip(2)
      }
  }
  if (reader.at !== serialized.length) throw new UnreadableDatabase('the option cron does not end where it should')
}

/** A cursor in serialized text. */
class Reader {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Yields the keys of an array. The caller reads each value before it asks for the next key. */
  *entries(): Generator<string | number> {
    for (let left = this.arrayLength(); left > 0; left--) yield this.#key()
    this.#take(/\}/y)
  }

  /** Enters an array and returns its length. */
  arrayLength(): number {
    return Number(this.#take(/a:(\d{1,9}):\{/y)[1])
  }

  /** Skips a value of any type. */
  skip(depth: number): void {
    if (depth > MOST_DEPTH) throw new UnreadableDatabase('the option cron is nested too deeply')
    const kind = this.#text[this.at]
    if (kind === 's') this.#string()
    else if (kind === 'N') this.#take(/N;/y)
    else if (kind === 'a' || kind === 'O') {
      const [, length] = this.#take(/(?:a|O:\d{1,4}:"[^"]{1,999}"):(\d{1,9}):\{/y)
      for (let left = Number(length); left > 0; left--) {
        this.#key()
        this.skip(depth + 1)
      }
      this.#take(/\}/y)
    } else this.#take(/[bidrR]:[-+.\dA-Z]{1,40};/y)
  }

  #key(): string | number {
    return this.#text[this.at] === 's' ? this.#string() : Number(this.#take(/i:(-?\d{1,15});/y)[1])
  }

  #string(): string {
    const length = Number(this.#take(/s:(\d{1,9}):"/y)[1])
    const value = this.#text.slice(this.at, this.at + length)
    this.at += length
    this.#take(/";/y)
    return value
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.#text)
    if (!match) throw new UnreadableDatabase(`the option cron is not as WordPress writes it at byte ${this.at}`)
    this.at = pattern.lastIndex
    return match
  }
}
