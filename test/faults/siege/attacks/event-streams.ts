import type { Attack } from './attack.ts'
import { keepOpen } from './hostile.ts'

/** Streams of an operation that stays open, all with one token. */
export const eventStreams: Attack = {
  name: 'event streams',
  connections: 150,
  async run(target, signal) {
    const { apiUrl, openOperation, token } = target
    await keepOpen(150, signal, async () => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${apiUrl}/v1/operations/${openOperation}/events`, { headers, signal })
      for await (const _ of response.body ?? []) if (signal.aborted) return
    })
  },
}
