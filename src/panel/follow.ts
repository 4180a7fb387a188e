/** Messages to pages: the connection is open, is lost and retried, or was refused; or something has changed. */
export type Told = 'live' | 'lost' | 'refused' | 'changed'

export interface Following {
  /** Connects again. */
  again(): void
  end(): void
}

/**
 * Streams events of everything that the person sees. After a reconnect, the browser sends the last event that it
 * received.
 */
export function follow(tell: (told: Told) => void): Following {
  let stream: EventSource | undefined
  function again(): void {
    stream?.close()
    const events = new EventSource('/v1/activity')
    stream = events
    events.onopen = () => tell('live')
    events.onerror = () => tell(events.readyState === EventSource.CLOSED ? 'refused' : 'lost')
    for (const kind of ['activity', 'missed']) events.addEventListener(kind, () => tell('changed'))
  }
  again()
  return { again, end: () => stream?.close() }
}
