import { BoundedClient } from './postgres-client.ts'
import { beginSilence, endSilence, heartbeat } from './postgres-silence.ts'

/** What can have changed. On SQLite every commit announces `operations`, too. */
export type Topic = 'operations' | 'routes' | 'tokens' | 'purges' | 'sftp' | 'zones' | 'events'

/** Tells, soon after a commit of any process, that something of a topic may have changed. Losing one is allowed to delay
 *  work, never to lose it: every listener also looks by itself from time to time. */
export interface ChangeFeed {
  /** @returns a function that ends the subscription. */
  subscribe(topic: Topic, listener: () => void): () => void
  /**
   * A number that stays the same as long as nothing of the topic has changed: on SQLite for certain, on PostgreSQL as far
   * as its notices have arrived (they are sent with the commit). `undefined` while notices cannot arrive.
   */
  version(topic: Topic): number | undefined
  close(): Promise<void> | void
}

export interface Listeners {
  add: ChangeFeed['subscribe']
  tell(topic?: Topic): void
}

export function listeners(): Listeners {
  const all = new Set<{ topic: Topic; listener: () => void }>()
  return {
    add(topic, listener) {
      const entry = { topic, listener }
      all.add(entry)
      return () => all.delete(entry)
    },
    tell(topic) {
      for (const entry of all) if (!topic || entry.topic === topic) entry.listener()
    },
  }
}

/** A lost connection is opened again after so long. */
const AGAIN_MS = 1000

/** Listens to what PostgreSQL announces. The same connection notices when the server falls silent, and when it is back. */
export async function postgresChanges(url: string): Promise<ChangeFeed> {
  const { add, tell } = listeners()
  const versions: Record<Topic, number> = {
    operations: 0,
    routes: 0,
    tokens: 0,
    purges: 0,
    sftp: 0,
    zones: 0,
    events: 0,
  }
  let client: BoundedClient | undefined
  let endHeartbeat = () => {}
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const lost = () => {
    client = undefined
    endHeartbeat()
    clearTimeout(retry)
    if (!closed) retry = setTimeout(() => listen().catch(lost), AGAIN_MS)
  }
  const listen = async () => {
    const next = new BoundedClient({ connectionString: url, application_name: 'stead changes' }, true)
    next.on('error', () => {})
    next.on('notification', ({ payload }) => {
      const topic = payload as Topic
      versions[topic]++
      tell(topic)
    })
    await next.connect()
    try {
      await next.query('listen stead')
    } catch (error) {
      next.cutOff()
      throw error
    }
    if (closed) return void next.cutOff()
    next.on('end', lost)
    client = next
    endSilence(url)
    endHeartbeat = heartbeat(
      () => next.query('select 1'),
      () => beginSilence(url),
    )
    // whatever was announced while nobody listened
    for (const topic of Object.keys(versions) as Topic[]) versions[topic]++
    tell()
  }
  await listen()
  return {
    subscribe: add,
    version: (topic) => (client ? versions[topic] : undefined),
    async close() {
      closed = true
      clearTimeout(retry)
      endHeartbeat()
      endSilence(url)
      await client?.end()
    },
  }
}
