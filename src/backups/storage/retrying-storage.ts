import { setTimeout as pause } from 'node:timers/promises'
import { StorageFailure } from '../backup-store.ts'
import { type Storage, StorageRefusal } from './storage.ts'

export interface Patience {
  /** The number of attempts, including the first. */
  readonly attempts: number
  /** The time limit of an attempt. Transfers have one more second for each 128 KB. */
  readonly attemptMs: number
  /** The pause before the second attempt. It doubles before each further one. */
  readonly pauseMs: number
}

const PATIENCE: Patience = { attempts: 4, attemptMs: 60_000, pauseMs: 500 }
const BYTES_A_SECOND = 128 << 10
/** The allowance for a list, which has many pages. */
const LIST_AS_BYTES = 32 << 20

/** Wraps a storage with retries after failures, and a time limit for answers. */
export function retryingStorage(storage: Storage, patience: Partial<Patience> = {}): Storage {
  const { attempts, attemptMs, pauseMs } = { ...PATIENCE, ...patience }
  const { where } = storage

  async function patiently<Result>(
    signal: AbortSignal | undefined,
    bytes: number,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const limitMs = attemptMs + Math.ceil((1000 * bytes) / BYTES_A_SECOND)
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      try {
        return await inTime(limitMs, where, signal, work)
      } catch (error) {
        signal?.throwIfAborted()
        if (attempt === attempts || error instanceof StorageRefusal || !(error instanceof StorageFailure)) throw error
      }
      // The check above reports an abort, with its reason.
      await pause(pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    }
  }

  return {
    where,
    put: (name, bytes, signal) => patiently(signal, bytes.length, (own) => storage.put(name, bytes, own)),
    async putOnce(name, bytes, signal) {
      let tries = 0
      const isFirst = await patiently(signal, bytes.length, (own) => {
        tries++
        return storage.putOnce(name, bytes, own)
      })
      if (isFirst || tries === 1) return isFirst
      // An attempt whose answer was lost may have written it.
      const standing = await patiently(signal, bytes.length, (own) => storage.get(name, undefined, own))
      return standing?.equals(bytes) === true
    },
    get: (name, range, signal) => patiently(signal, range?.length ?? 16 << 20, (own) => storage.get(name, range, own)),
    list: (folder, signal) => patiently(signal, LIST_AS_BYTES, (own) => storage.list(folder, own)),
    folders: (signal) => patiently(signal, 0, (own) => storage.folders(own)),
    remove: (names, signal) => patiently(signal, names.length * 1024, (own) => storage.remove(names, own)),
  }
}

/**
 * Limits the time of an attempt.
 * @throws StorageFailure when it takes too long; a late write then does no harm
 */
async function inTime<Result>(
  limitMs: number,
  where: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(limitMs)
  const own = signal ? AbortSignal.any([signal, timeout]) : timeout
  const ended = Promise.withResolvers<never>()
  const end = () =>
    ended.reject(
      signal?.aborted
        ? signal.reason
        : new StorageFailure(`${where} did not respond within ${Math.round(limitMs / 1000)} seconds.`),
    )
  own.addEventListener('abort', end, { once: true })
  const result = work(own)
  try {
    return await Promise.race([result, ended.promise])
  } finally {
    own.removeEventListener('abort', end)
    // No caller waits for its result any longer.
    result.catch(() => {})
  }
}
