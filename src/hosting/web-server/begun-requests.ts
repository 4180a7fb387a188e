import { LRUCache } from 'lru-cache'
import { PhpAbandoned } from '../php/runtime.ts'

/** An edge sends a request again at once, so few are enough. */
const MOST_REMEMBERED = 1_000

/** The request was sent again after its connection broke, but PHP has begun to run it. */
export class AlreadyBegun extends Error {
  override readonly name = 'AlreadyBegun'
}

/**
 * Remembers requests whose connection broke while PHP ran them. An edge sends a GET again on a new connection, because
 * it cannot know whether the host had received it. PHP must not run it twice.
 */
export class BegunRequests {
  readonly #broken = new LRUCache<string, true>({ max: MOST_REMEMBERED })

  /**
   * Runs a request in PHP.
   * @param id the edge's ID of the request, the same each time it sends it; empty for none
   * @returns what `run` returns
   * @throws AlreadyBegun, and what `run` throws
   */
  async run<Answer>(id: string, run: () => Promise<Answer>): Promise<Answer> {
    if (this.#broken.has(id)) throw new AlreadyBegun('PHP has already begun to run this request')
    try {
      return await run()
    } catch (error) {
      // It left the queue before its turn.
      if (error instanceof PhpAbandoned) this.#broken.delete(id)
      throw error
    }
  }

  /** Records that the connection of a request ended before its answer began. */
  breaks(id: string): void {
    if (id !== '') this.#broken.set(id, true)
  }
}
