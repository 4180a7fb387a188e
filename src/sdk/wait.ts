import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { components } from './api.generated.ts'
import { ApiError, ConnectionError, OperationFailed } from './errors.ts'
import { pause } from './pause.ts'

export type Operation = components['schemas']['Operation']

export interface WaitOptions {
  /** Told of each change, the first and the last included. */
  readonly onProgress?: (operation: Operation) => void
  readonly signal?: AbortSignal
}

/** How an operation is looked at. */
export interface Sight {
  /** One look. */
  read(id: number, signal: AbortSignal | undefined): Promise<Operation>
  /** The stream of its changes, whatever is answered. */
  open(id: number, signal: AbortSignal): Promise<Response>
}

/** The API says something every 15 s at least: a connection that is silent for so long is dead. */
const SILENCE_MS = 45_000
/** Between two looks where there is no stream. */
const LOOK_EVERY_MS = 1000
/** For so long an API that is being started anew is waited for. */
const AWAY_MS = 120_000

/**
 * Waits for the end of an operation: by its stream of events, and by looking where that breaks off or cannot be had.
 * @throws OperationFailed when it failed or was canceled; ApiError when it cannot be seen; the signal's reason
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
    // results are in no event
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

/** @returns the last that the stream told, if it told anything */
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
    // a connection that broke off is looked after; what is refused for good is not
    if (error instanceof ApiError && !mayPass(error)) throw error
    return last
  } finally {
    clearTimeout(timer)
  }
}
