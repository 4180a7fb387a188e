import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { controlBudgets } from '../../../budgets.ts'
import { readConfig } from '../../../config.ts'
import { Budget } from '../../budgets/budget.ts'
import { createLab } from '../test-support.ts'

const terms = controlBudgets(readConfig({})).requestBodies

/** Announces a body and sends none of it. */
function announce(port: number, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`POST /v1/things HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\n${head}\r\n\r\n`)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

async function apiOverTcp(bodies: Budget) {
  const lab = await createLab([], { bodies })
  await lab.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = lab.app.server.address() as { port: number }
  return { port, url: `http://127.0.0.1:${port}`, close: () => lab.close() }
}

describe('bodies of requests to the API', () => {
  it("count from their head on: 429 beyond an address's share, until others have finished", async () => {
    const bodies = new Budget(terms)
    const api = await apiOverTcp(bodies)
    const slow: Socket[] = []
    try {
      // 15 bodies state their length. One does not, and counts as the longest.
      for (let i = 0; i < 15; i++) slow.push(await announce(api.port, `Content-Length: ${1 << 20}`))
      slow.push(await announce(api.port, 'Transfer-Encoding: chunked'))
      await expect.poll(() => bodies.used).toBe(16 << 20)
      const send = () =>
        fetch(`${api.url}/v1/things`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
      const refused = await send()
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('5')
      expect(((await refused.json()) as { message: string }).message).toContain(
        'Too many request bodies are in transit',
      )
      // Requests without a body are not affected.
      expect((await fetch(`${api.url}/v1/things`)).status).toBe(404)
      slow[0]?.destroy()
      await expect.poll(() => bodies.used).toBe(15 << 20)
      expect((await send()).status).toBe(404)
    } finally {
      for (const socket of slow) socket.destroy()
      await expect.poll(() => bodies.used).toBe(0)
      await api.close()
    }
  })
})
