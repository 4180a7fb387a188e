import { BoundedClient } from './postgres-client.ts'
import { beginSilence, endSilence, heartbeat, isSilence } from './postgres-silence.ts'

/** The topics whose changes are announced. On SQLite every commit announces `operations`, too. */
export type Topic = 'operations' | 'routes' | 'tokens' | 'purges' | 'sftp' | 'zones' | 'events' | 'certificates'

/**
 * Notifies listeners, soon after a commit of any process, that a topic may have changed. A missed notification may
 * delay work but never lose it, because every listener also polls.
 */
export interface ChangeFeed {
  /** @returns a function that ends the subscription */
  subscribe(topic: Topic, listener: () => void): () => void
  /**
   * Returns a number. As long as it stays the same, nothing of the topic has changed. On SQLite this is certain. On
   * PostgreSQL it holds for all notifications received so far, which are sent with the commit. Returns `undefined`
   * while notifications cannot arrive.
   */
  version(topic: Topic): number | undefined
  close(): Promise<void> | void
}

export interface Listeners {
  add: ChangeFeed['subscribe']
  tell(topic?: Topic): void
}

export function createListeners(): Listeners {
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

/** The wait before a lost connection is reopened. */
const AGAIN_MS = 1000

/**
 * Listens to PostgreSQL's notifications. The same connection detects when the server falls silent, and when it is back.
 * @param mayBeAway whether to begin without the server, and listen once it is reachable
 */
export async function postgresChanges(url: string, mayBeAway = false): Promise<ChangeFeed> {
  const { add, tell } = createListeners()
  const versions: Record<Topic, number> = {
    operations: 0,
    routes: 0,
    tokens: 0,
    purges: 0,
    sftp: 0,
    zones: 0,
    events: 0,
    certificates: 0,
  }
  let client: BoundedClient | undefined
  let endHeartbeat = () => {}
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const lost = () => {
    client = undefined
    endHeartbeat()
    clearTimeout(retry)
    if (!closed) retry = setTimeout(() => listen().catch(failed), AGAIN_MS)
  }
  // No heartbeat runs without this connection. A server that does not answer it leaves the others waiting, too.
  const failed = (error: unknown) => {
    if (!closed && isSilence(error)) beginSilence(url)
    lost()
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
    // Changes may have been announced while the connection was lost.
    for (const topic of Object.keys(versions) as Topic[]) versions[topic]++
    tell()
  }
  const listening = listen()
  // A cut connection would take seconds to fail.
  if (mayBeAway) void listening.catch(failed)
  else await listening
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
