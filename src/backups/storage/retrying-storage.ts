import { setTimeout as pause } from 'node:timers/promises'
import { StorageFailure } from '../backup-store.ts'
import { type Storage, StorageRefusal } from './storage.ts'

export interface Patience {
  /** How often something is tried. */
  readonly attempts: number
  /** What an attempt may take; what moves bytes has a second more for each 128 KB. */
  readonly attemptMs: number
  /** Before the second attempt; twice as long before each other one. */
  readonly pauseMs: number
}

const PATIENCE: Patience = { attempts: 4, attemptMs: 60_000, pauseMs: 500 }
const BYTES_A_SECOND = 128 << 10
/** A list has many pages. */
const LIST_AS_BYTES = 32 << 20

/** A storage that is asked again when it fails, and given up when it does not answer. */
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
      // its end by the signal is told above, with its reason
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
      // an attempt whose answer was lost may have been the one that wrote it
      const standing = await patiently(signal, bytes.length, (own) => storage.get(name, undefined, own))
      return standing?.equals(bytes) === true
    },
    get: (name, range, signal) => patiently(signal, range?.length ?? 16 << 20, (own) => storage.get(name, range, own)),
    list: (folder, signal) => patiently(signal, LIST_AS_BYTES, (own) => storage.list(folder, own)),
    folders: (signal) => patiently(signal, 0, (own) => storage.folders(own)),
    remove: (names, signal) => patiently(signal, names.length * 1024, (own) => storage.remove(names, own)),
  }
}

/** @throws StorageFailure when it takes too long; what goes on then writes nothing that anybody would miss */
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
    // its end is nobody's any more
    result.catch(() => {})
  }
}
