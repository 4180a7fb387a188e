import { setTimeout as pause } from 'node:timers/promises'
import type { Budget } from '../budgets/budget.ts'
import type { LogKind, LogRecord, LogStore } from './log-store.ts'

export interface LogBufferOptions {
  readonly store: Pick<LogStore, 'append'>
  readonly kind: LogKind
  readonly log: { warn(facts: object, message: string): void }
  /** The longest wait of an entry. */
  readonly flushMs?: number
  /** The entries in a batch. This many trigger a write at once. */
  readonly batch?: number
  /** Limits the waiting entries by site while the store does not answer. Further entries are dropped and counted. */
  readonly budget: Budget
  readonly retryMs?: number
}

/** Entries on their way to the store. */
export interface LogBuffer {
  /** Costs the caller no more than an array's push. */
  add(record: LogRecord): void
  /** Returns how many entries were dropped since the start. */
  dropped(): number
  /** Resolves when all entries are stored, or given up after a time. Nothing may be added afterwards. */
  close(timeoutMs?: number): Promise<void>
}

/** The approximate size of an entry in addition to its text. */
const ENTRY_BYTES = 200

/**
 * Collects entries and stores them in batches, one at a time. A batch that fails is retried until it is stored. Because
 * its entries have their ids, it is never stored twice.
 */
export function createLogBuffer(options: LogBufferOptions): LogBuffer {
  const { store, kind, log, budget, flushMs = 250, batch = 1000, retryMs = 1000 } = options
  let waiting: LogRecord[] = []
  let dropped = 0
  let told = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let closing = false
  let quietUntilMs = 0

  const complain = (error: unknown) => {
    if (performance.now() < quietUntilMs) return
    quietUntilMs = performance.now() + 10_000
    log.warn({ err: error, kind, waiting: waiting.length, dropped }, 'could not store log entries')
  }
  const run = async () => {
    while (waiting.length > 0) {
      const sent = waiting.slice(0, batch)
      try {
        await store.append(kind, sent)
      } catch (error) {
        complain(error)
        return
      }
      waiting = waiting.slice(sent.length)
      for (const record of sent) budget.give(record.siteId, sizeOf(record))
      if (dropped > told) {
        log.warn({ kind, dropped: dropped - told }, 'dropped log entries that could not be stored')
        told = dropped
      }
      if (waiting.length < batch && !closing) return
    }
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    running ??= run().finally(() => {
      running = undefined
      if (waiting.length > 0) later(waiting.length >= batch ? retryMs : flushMs)
    })
    return running
  }
  const later = (delayMs: number) => {
    if (!closing) timer ??= setTimeout(flush, delayMs)
  }
  return {
    add(record) {
      if (!budget.take(record.siteId, sizeOf(record))) {
        dropped++
        return
      }
      waiting.push(record)
      if (waiting.length === batch && !running) flush()
      else if (!timer && !running) later(flushMs)
    },
    dropped: () => dropped,
    async close(timeoutMs = 5000) {
      closing = true
      clearTimeout(timer)
      const late = AbortSignal.timeout(timeoutMs)
      const end = new Promise((resolve) => late.addEventListener('abort', resolve, { once: true }))
      while (waiting.length > 0 && !late.aborted) {
        await Promise.race([flush(), end])
        if (waiting.length > 0) await Promise.race([pause(Math.min(retryMs, 100)), end])
      }
      if (waiting.length > 0) log.warn({ kind, lost: waiting.length }, 'lost log entries that could not be stored')
    },
  }
}

const sizeOf = ({ body, key }: LogRecord): number => body.length + key.length + ENTRY_BYTES
