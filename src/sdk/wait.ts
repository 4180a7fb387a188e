import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { components } from './api.generated.ts'
import { ApiError, ConnectionError, OperationFailed } from './errors.ts'
import { pause } from './pause.ts'

export type Operation = components['schemas']['Operation']

export interface WaitOptions {
  /** Receives each change, including the first and the last state. */
  readonly onProgress?: (operation: Operation) => void
  readonly signal?: AbortSignal
}

/** How to read an operation. */
export interface Sight {
  /** Reads it once. */
  read(id: number, signal: AbortSignal | undefined): Promise<Operation>
  /** Opens the stream of its changes, and returns any answer. */
  open(id: number, signal: AbortSignal): Promise<Response>
}

/** The API sends something at least every 15 s. A connection that is silent this long is dead. */
const SILENCE_MS = 45_000
/** The interval of polling without a stream. */
const LOOK_EVERY_MS = 1000
/** How long to wait for an API that is restarting. */
const AWAY_MS = 120_000

/**
 * Waits for the end of an operation: follows its event stream, and polls if the stream breaks off or is not available.
 * @throws OperationFailed when it failed or was canceled; ApiError when it cannot be read; the signal's reason
 */
export async function waitForEnd(id: number, sight: Sight, { onProgress, signal }: WaitOptions): Promise<Operation> {
  let told = ''
  const tell = (operation: Operation): Operation => {
    const text = JSON.stringify(operation)
    if (text !== told) onProgress?.(operation)
    told = text
    return operation
  }
  let seenAt = Date.now()
  for (;;) {
    const streamed = await follow(id, sight, tell, signal)
    // Events have no results.
    const now = streamed && !hasEnded(streamed) ? streamed : await look()
    if (now) seenAt = Date.now()
    if (now && hasEnded(now)) {
      if (now.state === 'succeeded') return now
      throw new OperationFailed(now)
    }
    await pause(LOOK_EVERY_MS, signal)
  }

  async function look(): Promise<Operation | undefined> {
    try {
      return tell(await sight.read(id, signal))
    } catch (error) {
      if (signal?.aborted || !mayPass(error) || Date.now() - seenAt > AWAY_MS) throw error
      return undefined
    }
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))

const hasEnded = ({ finishedAt }: Operation): boolean => finishedAt !== null

/** @returns the last state of the stream, if it sent any */
async function follow(
  id: number,
  sight: Sight,
  tell: (operation: Operation) => Operation,
  signal: AbortSignal | undefined,
): Promise<Operation | undefined> {
  const silence = new AbortController()
  const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  let last: Operation | undefined
  try {
    const response = await sight.open(id, either)
    if (!response.ok || !response.body) throw new ApiError(response, await response.json().catch(() => undefined))
    const heard = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), SILENCE_MS)
        controller.enqueue(chunk)
      },
    })
    const events = response.body
      .pipeThrough(heard)
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(new EventSourceParserStream())
      .getReader()
    for (;;) {
      const { done, value } = await events.read()
      if (done) return last
      if (value.event === 'operation') last = tell(JSON.parse(value.data) as Operation)
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    // A broken connection is retried. A permanent refusal is not.
    if (error instanceof ApiError && !mayPass(error)) throw error
    return last
  } finally {
    clearTimeout(timer)
  }
}
