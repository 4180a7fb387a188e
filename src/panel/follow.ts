/** What pages are told of the connection: it is there, it is lost and looked for, it was refused; and that something has changed. */
export type Told = 'live' | 'lost' | 'refused' | 'changed'

export interface Following {
  /** Begins anew. */
  again(): void
  end(): void
}

/** Follows what happens on all that the person sees. The browser says itself where it was when it comes back. */
export function follow(tell: (told: Told) => void): Following {
  let stream: EventSource | undefined
  let wasLost = false
  function again(): void {
    stream?.close()
    const events = new EventSource('/v1/activity')
    stream = events
    events.onopen = () => {
      tell('live')
      // what is shown may be older than what was told last
      if (wasLost) tell('changed')
      wasLost = false
    }
    events.onerror = () => {
      wasLost = true
      tell(events.readyState === EventSource.CLOSED ? 'refused' : 'lost')
    }
    for (const kind of ['activity', 'missed']) events.addEventListener(kind, () => tell('changed'))
  }
  again()
  return { again, end: () => stream?.close() }
}
