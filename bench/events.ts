import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { noLog } from '../src/platform/log/log.ts'
import { events } from '../src/resources/performance/actions.ts'
import { AT_ONCE } from '../src/resources/webhooks/delivery/choose.ts'
import { WebhookSender } from '../src/resources/webhooks/delivery/webhook-sender.ts'
import { recordEvent } from '../src/resources/webhooks/record-event.ts'
import { type Person, type TestApi, testApi } from '../test/support/api.ts'
import { dialects } from '../test/support/database.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'

const EVENTS = 10_000
const ACCOUNTS = 10
const WEBHOOKS = 10
const SITES = 10
/** Events in a transaction, each of another site. */
const TOGETHER = 10
/** Deliveries a second to healthy receivers, in the first part. */
const PACE = 200
const KIND = events.light_weight_404_changed

/**
 * Measures how soon events arrive while a tenth of the receivers hangs and another tenth refuses connections: at a
 * fixed rate, and all at once beside the same number of requests by undici without Stead.
 */
export async function eventsBench(): Promise<Section> {
  const figures: Figure[] = []
  for (const { dialect, skip } of dialects) if (!skip) figures.push(...(await on(dialect)))
  return {
    title: 'Events',
    how: `${EVENTS} events of ${ACCOUNTS} accounts with ${SITES} sites and ${WEBHOOKS} webhooks each. Of the ${ACCOUNTS * WEBHOOKS} receivers, ${ACCOUNTS} hang and ${ACCOUNTS} refuse connections. Each event goes to all webhooks of its account. The time runs from before its transaction to its arrival at each working receiver. Sender and receivers are one process, with the database on SQLite.`,
    figures,
  }
}

interface Arrival {
  readonly sentAt: number
  readonly at: number
}

async function on(dialect: 'sqlite' | 'postgres'): Promise<Figure[]> {
  const api = await testApi(dialect, { settings: { STEAD_ALLOW_PRIVATE_FETCH: 'true' } })
  const arrivals: Arrival[] = []
  const receiver = await listen((path, body) => {
    if (path.startsWith('/well')) arrivals.push({ sentAt: JSON.parse(body).data?.sentAt ?? 0, at: performance.now() })
    return path !== '/hang'
  })
  const { database, sealer } = api
  const sender = new WebhookSender({ database, sealer, allowPrivate: true, log: noLog })
  try {
    const accounts = await people(api, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`)
    sender.start()
    const wellOf = WEBHOOKS - 2
    const paced = EVENTS / 10
    for (let at = 0; at < paced; at += TOGETHER) {
      const began = performance.now()
      await happen(api, accounts, at)
      await pause(Math.max(0, (1000 * TOGETHER * wellOf) / PACE - (performance.now() - began)))
    }
    await until(() => arrivals.length >= paced * wellOf)
    const times = arrivals.map(({ sentAt, at }) => at - sentAt)
    arrivals.length = 0
    const began = performance.now()
    for (let at = paced; at < EVENTS; at += TOGETHER) await happen(api, accounts, at)
    const written = performance.now() - began
    const count = (EVENTS - paced) * wellOf
    await until(() => arrivals.length >= count)
    const rate = (1000 * count) / (performance.now() - began)
    const alone = await posts(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/plain`, 20_000)
    const [p50, p99] = [median(times), percentile(times, 0.99)].map((ms) => ms.toFixed(0))
    return [
      {
        what: `an event to its arrival, ${dialect}, ${PACE} a second`,
        value: `p50 ${p50} ms, p99 ${p99} ms`,
      },
      {
        what: `deliveries, all at once, ${dialect}`,
        value: `${Math.round(rate)}/s`,
        yardstick: `${Math.round(alone)}/s (undici alone)`,
        ratio: (rate / alone).toFixed(2),
      },
      { what: `events written meanwhile, ${dialect}`, value: `${Math.round((1000 * (EVENTS - paced)) / written)}/s` },
    ]
  } finally {
    receiver.closeAllConnections()
    receiver.close()
    await sender.stop(0)
    await api.close()
  }
}

/** @param receive gets each delivery; @returns whether to answer it */
async function listen(receive: (path: string, body: string) => boolean): Promise<Server> {
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString()
    if (receive(incoming.url as string, body)) response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await new Promise((ready) => server.once('listening', ready))
  return server
}

interface Account {
  readonly person: Person
  readonly sites: readonly number[]
}

async function people(api: TestApi, base: string): Promise<Account[]> {
  const made: Account[] = []
  for (let number = 0; number < ACCOUNTS; number++) {
    const person = await api.person(`owner-${number}@example.com`)
    const sites: number[] = []
    for (let site = 0; site < SITES; site++) sites.push(await api.site(person, `site-${number}-${site}`))
    const urls = Array.from({ length: WEBHOOKS - 2 }, (_, index) => `${base}/well-${index}`)
    // Nothing listens on port 9.
    for (const url of [...urls, `${base}/hang`, 'http://127.0.0.1:9/refuse']) {
      const { status } = await person.call('POST', '/v1/webhooks', { url })
      if (status !== 200) throw new Error(`a webhook: ${status}`)
    }
    made.push({ person, sites })
  }
  return made
}

/** Inserts this many events in one transaction, of one account and its sites in turn. */
async function happen(api: TestApi, accounts: readonly Account[], at: number): Promise<void> {
  const { person, sites } = accounts[(at / TOGETHER) % accounts.length] as Account
  const sentAt = performance.now()
  await api.database.transaction(async (tx) => {
    for (let number = 0; number < TOGETHER; number++)
      await recordEvent(tx, {
        type: KIND,
        accountId: person.accountId,
        siteId: sites[number % sites.length] as number,
        data: { sentAt },
        now: Date.now(),
      })
  })
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10)
}

/** Requests a second of the HTTP library without Stead. */
async function posts(url: string, count: number): Promise<number> {
  const agent = new Agent({ connections: AT_ONCE.all })
  let left = count
  const began = performance.now()
  const send = async () => {
    while (left-- > 0) {
      const { body } = await request(url, { method: 'POST', body: '{"data":{}}', dispatcher: agent })
      await body.dump()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE.all }, send))
  await agent.close()
  return (1000 * count) / (performance.now() - began)
}
