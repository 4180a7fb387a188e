import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../src/platform/db/database.ts'
import { makeApplication } from '../src/resources/account/account.ts'
import { tokenHash } from '../src/resources/authentication/authenticate.ts'
import { insertToken } from '../src/resources/authentication/token.store.ts'
import { apiOver } from '../test/support/api.ts'
import { testDatabase } from '../test/support/database.ts'
import { fillWithMany } from '../test/support/many.ts'
import { type Figure, median, type Section } from './support/report.ts'
import { startPart } from './support/servers.ts'

const SITES = 10_000
const ROUNDS = 20
const AT_ONCE = 16

/**
 * Measures the list of all sites, which is as long as the account has sites: time to first byte, duration, and the size
 * of the API's process.
 */
export async function allSitesBench(): Promise<Section> {
  const { connection, token, drop } = await filled()
  const part = await startPart(import.meta.filename, connection.file)
  try {
    const agent = new Agent({ keepAlive: true })
    const path = '/v1/sites'
    const usual = () => ask(part.port, '/v1/sites/1', token, agent)
    for (let round = 0; round < 3; round++) await ask(part.port, '/v1/sites/1', token, agent)
    const before = part.residentMb()
    const one: Answer[] = []
    for (let round = 0; round < ROUNDS; round++) one.push(await ask(part.port, path, token, agent))
    const cpu = part.cpuMicroseconds()
    // A short call from time to time shows how long one list delays all others.
    const others: number[] = []
    let isOver = false
    const beside = (async () => {
      for (; !isOver; await pause(10)) others.push((await usual()).total)
    })()
    const many = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(part.port, path, token)))
    isOver = true
    await beside
    const after = part.peakMb()
    const ms = (value: number) => `${value.toFixed(0)} ms`
    const figures: Figure[] = [
      { what: 'to the first byte, median', value: ms(median(one.map(({ first }) => first))), aim: '50 ms' },
      { what: 'to the last byte, median', value: ms(median(one.map(({ total }) => total))) },
      { what: '… bytes', value: `${((one[0]?.bytes ?? 0) / 1e6).toFixed(1)} MB` },
      { what: `${AT_ONCE} at once, each to its last byte, median`, value: ms(median(many.map(({ total }) => total))) },
      { what: '… processor time of each', value: ms((part.cpuMicroseconds() - cpu) / 1000 / AT_ONCE) },
      { what: '… another call meanwhile, the longest', value: ms(Math.max(...others)) },
      { what: '… memory of the process (Rss), before and at most', value: `${before} and ${after} MB` },
    ]
    agent.destroy()
    return {
      title: 'All sites at once',
      how: `\`GET /v1/sites\` of an account with ${SITES} sites, on SQLite over loopback, with the API in its own process. ${ROUNDS} requests run one after the other, then ${AT_ONCE} at once.`,
      figures,
    }
  } finally {
    await part.stop()
    await drop()
  }
}

interface Answer {
  /** Milliseconds. */
  readonly first: number
  readonly total: number
  readonly bytes: number
}

function ask(port: number, path: string, token: string, agent?: Agent): Promise<Answer> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    get(
      { host: '127.0.0.1', port, path, agent: agent ?? false, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        let [first, bytes] = [0, 0]
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) first = performance.now() - began
          bytes += chunk.length
        })
        response.on('error', reject)
        response.on('end', () => resolve({ first, total: performance.now() - began, bytes }))
      },
    ).on('error', reject)
  })
}

/** Many sites, and a token of the account that owns them. */
async function filled() {
  const { database, connection, drop } = await testDatabase('sqlite')
  const token = await database.transaction(async (tx) => {
    await fillWithMany(tx, { sites: SITES, collaboratorsASite: 5, logEntriesASite: 0 })
    const now = Date.now()
    const { id } = await makeApplication(tx, { accountId: 1, name: 'bench', isOwner: true, now })
    await insertToken(tx, { hash: tokenHash('bench'), applicationId: id, now, expiresAt: now + 3_600_000 })
    return 'bench'
  })
  return { connection, token, drop }
}

if (process.argv[2] === '--part') {
  const { app } = await apiOver(await openDatabase({ file: process.argv[3] as string }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  process.send?.((app.server.address() as AddressInfo).port)
}
