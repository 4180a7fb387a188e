import { once } from 'node:events'
import { type Agent, get, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { controlBudgets } from '../../budgets.ts'
import { openBudgets } from '../../platform/budgets/budget.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { endApplication } from '../account/account.store.ts'
import { configureSite } from '../sites/switches/configure-site.job.ts'

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`GET /v1/operations/{id}/events on ${dialect}`, () => {
    const clock = { aheadMs: 0 }
    let api: TestApi
    let budgets: ReturnType<typeof openControlBudgets>
    let port: number
    let number = 0
    let owner: Person
    let friend: Person
    let siteId: number
    let operationId: number

    beforeAll(async () => {
      budgets = openControlBudgets()
      api = await testApi(dialect, { budgets, now: () => Date.now() + clock.aheadMs })
      port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
    })
    afterAll(() => api.close())
    beforeEach(async () => {
      number++
      owner = await api.person(`owner-${number}@example.com`)
      friend = await api.person(`friend-${number}@example.com`)
      siteId = await api.site(owner, `site-${number}`)
      operationId = await api.database.transaction((tx) =>
        enqueue(
          tx,
          configureSite,
          { siteId },
          { siteId, accountId: owner.accountId, hostId: 1, runAt: Date.now() + 1e9 },
        ),
      )
    })

    const open = async (person: Person, agent?: Agent): Promise<Stream> => {
      const headers = { authorization: `Bearer ${person.token}` }
      const call = get({ host: '127.0.0.1', port, path: `/v1/operations/${operationId}/events`, headers, agent })
      call.on('error', () => {})
      const [response] = (await once(call, 'response')) as [IncomingMessage]
      return new Stream(response)
    }
    const change = (values: { progress?: number; error?: string; finished_at?: number; state?: 'succeeded' }) =>
      api.database.transaction((tx) => tx.updateTable('operations').set(values).where('id', '=', operationId).execute())
    const allFree = () => expect.poll(() => budgets.eventStreams.used).toBe(0)

    test('200: sends the current operation, each change, and the end', async () => {
      const stream = await open(owner)
      await expect.poll(() => stream.last?.progress).toBe(0)
      await change({ progress: 40 })
      await expect.poll(() => stream.last?.progress).toBe(40)
      await change({ state: 'succeeded', finished_at: Date.now() })
      await stream.ended
      expect(stream.last).toMatchObject({ id: operationId, state: 'succeeded' })
      await allFree()
    })

    test('429 beyond the limit of open streams of an application; closing one makes room', async () => {
      const streams = await Promise.all(Array.from({ length: 50 }, () => open(owner)))
      expect(streams.every(({ status }) => status === 200)).toBe(true)
      const refused = await open(owner)
      await refused.ended
      expect([refused.status, refused.headers['retry-after'], refused.headers['content-type']]).toEqual([
        429,
        '10',
        'application/json; charset=utf-8',
      ])
      expect(refused.text).toContain('Too many event streams')
      streams[0]?.close()
      await expect.poll(() => budgets.eventStreams.used).toBe(49)
      const again = await open(owner)
      expect(again.status).toBe(200)
      for (const each of [...streams, again]) each.close()
      await allFree()
    })

    test('holds nothing for a HEAD request, or for a client that left before the answer', async () => {
      const headers = { authorization: `Bearer ${owner.token}` }
      const call = request({
        host: '127.0.0.1',
        port,
        method: 'HEAD',
        path: `/v1/operations/${operationId}/events`,
        headers,
      })
      call.end()
      const [response] = (await once(call, 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(200)
      for (let times = 0; times < 20; times++) {
        const socket = connect(port, '127.0.0.1')
        socket.write(
          `GET /v1/operations/${operationId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`,
        )
        await once(socket, 'connect')
        socket.destroy()
      }
      await allFree()
    })

    test.each<[string, () => Promise<unknown>]>([
      [
        'its token is revoked',
        () =>
          api.call('POST', '/auth/revoke', {
            token: friend.token,
            client_id: friend.clientId,
            client_secret: friend.clientSecret,
          }),
      ],
      [
        'its application is revoked',
        () => api.database.transaction((tx) => endApplication(tx, friend.clientId, Date.now())),
      ],
      [
        'its token has expired',
        async () => {
          clock.aheadMs = 3_600_001
        },
      ],
      [
        'the caller is taken off the site',
        async () => {
          const members = await owner.call('GET', `/v1/sites/${siteId}/collaborators`)
          const [{ id }] = members.body.data
          expect((await owner.call('DELETE', `/v1/sites/${siteId}/collaborators/${id}`)).status).toBe(200)
        },
      ],
    ])('ends when %s, and other streams stay open', async (what, happens) => {
      await api.collaborate(friend, siteId, [])
      const [stays, ends] = [await open(owner), await open(friend)]
      const deaf = await open(friend)
      deaf.pause()
      expect([stays.status, ends.status]).toEqual([200, 200])
      await happens()
      await ends.ended
      const left = what.includes('expired') ? 0 : 1
      await expect.poll(() => budgets.eventStreams.used).toBe(left)
      clock.aheadMs = 0
      stays.close()
      deaf.close()
      await allFree()
    })

    test('sends the newest state to a client that never reads, and keeps no older ones', async () => {
      const socket = connect(port, '127.0.0.1')
      socket.pause()
      socket.write(
        `GET /v1/operations/${operationId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`,
      )
      await expect.poll(() => budgets.eventStreams.used).toBe(1)
      const reader = await open(owner)
      // 24 MB: the buffers of the system between the two hold 10 to 12.
      const filler = 'x'.repeat(2_000_000)
      for (let progress = 1; progress <= 12; progress++) {
        await change({ progress, error: `${progress}${filler}` })
        await expect.poll(() => reader.last?.progress, { interval: 5 }).toBe(progress)
      }
      let taken = 0
      let tail = ''
      socket.on('data', (chunk) => {
        taken += chunk.length
        tail = (tail + chunk.toString()).slice(-2_100_000)
      })
      socket.resume()
      await expect.poll(() => tail.includes('"progress":12')).toBe(true)
      expect(taken).toBeLessThan(9 * filler.length)
      socket.destroy()
      reader.close()
      await allFree()
    })
  })
}

const openControlBudgets = () => openBudgets(controlBudgets({} as never))

/** The events that a client received. */
class Stream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly ended: Promise<unknown>
  readonly #response: IncomingMessage
  text = ''

  constructor(response: IncomingMessage) {
    this.#response = response
    this.status = response.statusCode as number
    this.headers = response.headers
    this.ended = new Promise((resolve) => response.once('close', resolve))
    response.on('error', () => {})
    response.setEncoding('utf8')
    response.on('data', (chunk) => {
      this.text += chunk
    })
  }

  /** The last operation that arrived completely. */
  get last(): { id: number; state: string; progress: number } | undefined {
    const messages = this.text.split('\n\n').slice(0, -1)
    const data = messages.at(-1)?.split('\ndata: ')[1]
    this.text = this.text.slice(this.text.lastIndexOf('event: '))
    return data && JSON.parse(data)
  }

  pause(): void {
    this.#response.pause()
  }

  close(): void {
    this.#response.destroy()
  }
}
