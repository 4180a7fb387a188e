/** Sets the machine's clock forward and back while the real program works. */
import { globSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { postgresUrl, type TestDatabase, testDatabase } from '../support/database.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()
/** Gives programs another time than the machine's (Debian's package faketime). */
const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')

describe.skipIf(!core || !library).each([
  { dialect: 'sqlite' as const, skip: false },
  { dialect: 'postgres' as const, skip: !postgresUrl },
])('with a changed clock, on $dialect', ({ dialect, skip }) => {
  let folder: string
  let records: TestDatabase | undefined
  let stead: Stead
  showOutputOfFailures(() => stead)

  /** Sets the clock that all processes of Stead see. */
  const setClock = async (seconds: number) => {
    await writeFile(join(folder, 'next'), `${seconds < 0 ? '' : '+'}${seconds}\n`)
    await rename(join(folder, 'next'), join(folder, 'offset'))
  }
  const clockOfStead = async () =>
    Date.parse((await fetch(`${stead.apiUrl}/healthz`)).headers.get('date') as string) - Date.now()

  beforeAll(async () => {
    if (skip) return
    folder = await mkdtemp(join(tmpdir(), 'stead-clock-'))
    await setClock(0)
    if (dialect === 'postgres') records = await testDatabase(dialect)
    stead = await startStead({
      env: {
        LD_PRELOAD: library as string,
        FAKETIME_TIMESTAMP_FILE: join(folder, 'offset'),
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
        STEAD_PREPARED_SITES: '0',
        ...(records && { STEAD_DATABASE_URL: records.connection.url as string }),
      },
    })
  })
  afterAll(async () => {
    await stead?.remove()
    await records?.drop()
    if (folder) await rm(folder, { recursive: true })
  })

  const isReady = () => until('all is ready', async () => (await fetch(`${stead.apiUrl}/readyz`)).status === 200)

  /** Creates a site, and kills the host meanwhile. */
  const orderAndKill = async (name: string) => {
    const { body, headers } = await stead.api('POST', '/v1/sites', { name })
    const operation = headers.get('operation-id')
    await until('the host is at it', async () => {
      const { state } = (await stead.api('GET', `/v1/operations/${operation}`)).body.data
      if (state === 'succeeded') throw new Error('it was too fast to be cut off')
      return state === 'running'
    })
    stead.kill('host')
    return body.data.id as number
  }

  test.skipIf(skip).each([
    ['back an hour', -3600],
    ['forward two hours', 3600],
    ['back an hour again, to where it was', 0],
  ])('%s: work of a killed host continues within seconds, and new sites go live', async (_, seconds) => {
    const cutOff = await orderAndKill(`cut-off-${seconds + 3600}`)
    await setClock(seconds)
    // Node caches the text of this header for a second
    await until('it sees the new time', async () => Math.abs((await clockOfStead()) / 1000 - seconds) < 60)
    await stead.live(cutOff)
    const other = await stead.createSite({ name: `whole-${seconds + 3600}` })
    expect((await stead.visit(`whole-${seconds + 3600}`)).status).toBe(200)
    await isReady()
    expect((await stead.api('GET', `/v1/sites/${other}`)).body.data.state).toBe('live')
  })

  test.skipIf(skip)(
    'set back and forth under load: Stead interrupts nothing, and running workers keep their operations',
    async () => {
      const orders: string[] = []
      for (let n = 0; n < 4; n++) {
        const { headers } = await stead.api('POST', '/v1/sites', { name: `to-and-fro-${n}` })
        orders.push(headers.get('operation-id') as string)
        await setClock(n % 2 === 0 ? 3600 : -3600)
      }
      for (const order of orders) expect(await stead.ended(order)).toMatchObject({ state: 'succeeded' })
      expect(stead.output()).not.toContain('another worker took over an operation')
      await isReady()
    },
  )
})
