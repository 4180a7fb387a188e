/** An answer over UDP as it was sent. */
export interface CachedAnswer {
  readonly message: Buffer
  readonly rcode: number
  /** What answers it is counted with where their number is limited. */
  readonly countedAs: string
  /** Of the zones that it is from. */
  readonly version: number
  readonly atMs: number
}

/** Whatever clients ask, there are two halves of so many, each of 1,232 bytes at most. */
const HALF = 4096
/** No usual question is longer. */
const MOST_QUESTION_BYTES = 320
/** Less than signatures are given again for. */
const KEPT_MS = 3600_000
const ID_BYTES = 2

/** Answers by their questions, to the byte: what is asked often is neither read nor written again. */
export class AnswerCache {
  #newer = new Map<string, CachedAnswer>()
  #older = new Map<string, CachedAnswer>()

  /** What a question is known by: all of it but its id. */
  static keyOf(question: Buffer): string | undefined {
    return question.length > MOST_QUESTION_BYTES ? undefined : question.toString('latin1', ID_BYTES)
  }

  /** @param version of the zones now */
  find(key: string, version: number, nowMs: number): CachedAnswer | undefined {
    const found = this.#newer.get(key) ?? this.#older.get(key)
    if (!found) return undefined
    const ageMs = nowMs - found.atMs
    return found.version === version && ageMs >= 0 && ageMs < KEPT_MS ? found : undefined
  }

  /** When a half is full the older one goes: what is asked often is soon there again. */
  put(key: string, answer: CachedAnswer): void {
    if (this.#newer.size >= HALF) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(key, answer)
  }
}

/** The answer, for the question that came now: bytes of its own, since the system may take them later. */
export function answerTo({ message }: CachedAnswer, question: Buffer): Buffer {
  const answer = Buffer.allocUnsafe(message.length)
  message.copy(answer)
  answer[0] = question[0] as number
  answer[1] = question[1] as number
  return answer
}
