/** An answer over UDP as it was sent. */
export interface CachedAnswer {
  readonly message: Buffer
  readonly rcode: number
  /** The key under which the rate limit counts it. */
  readonly countedAs: string
  /** The version of the zones that it comes from. */
  readonly version: number
  readonly atMs: number
}

/** The size of each of the two halves of the cache, whatever clients ask. An answer has at most 1,232 bytes. */
const HALF = 4096
/** The longest question that is cached. Usual questions are shorter. */
const MOST_QUESTION_BYTES = 320
/** Shorter than the time for which signatures are reused. */
const KEPT_MS = 3600_000
const ID_BYTES = 2

/**
 * Caches answers by the exact bytes of their questions, so that frequent questions are neither parsed nor answered
 * again.
 */
export class AnswerCache {
  #newer = new Map<string, CachedAnswer>()
  #older = new Map<string, CachedAnswer>()

  /** Returns the key of a question: all of it except its id. */
  static keyOf(question: Buffer): string | undefined {
    return question.length > MOST_QUESTION_BYTES ? undefined : question.toString('latin1', ID_BYTES)
  }

  /** @param version the current version of the zones */
  find(key: string, version: number, nowMs: number): CachedAnswer | undefined {
    const found = this.#newer.get(key) ?? this.#older.get(key)
    if (!found) return undefined
    const ageMs = nowMs - found.atMs
    return found.version === version && ageMs >= 0 && ageMs < KEPT_MS ? found : undefined
  }

  /** Adds an answer. When a half is full, the older one is dropped: frequent answers soon return. */
  put(key: string, answer: CachedAnswer): void {
    if (this.#newer.size >= HALF) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(key, answer)
  }
}

/** Copies the answer with the id of the current question. Uses a new buffer, because the system may send it later. */
export function answerTo({ message }: CachedAnswer, question: Buffer): Buffer {
  const answer = Buffer.allocUnsafe(message.length)
  message.copy(answer)
  answer[0] = question[0] as number
  answer[1] = question[1] as number
  return answer
}
