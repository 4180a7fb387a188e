/** More than a machine likes at once: many new sites, and a full disk. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atLength } from '../support/at-length.ts'
import { testCore } from '../support/core.ts'
import { maySmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const core = await testCore()
const MB = 1 << 20

const SITES = atLength(8, 20)

describe.skipIf(!core)(`${SITES} sites ordered at once`, () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterAll(() => stead?.remove())

  test('creates all sites, each with its own title, while something else keeps a processor busy', async () => {
    stead = await startStead()
    const busy = new Worker('for (;;) {}', { eval: true })
    try {
      const names = Array.from({ length: SITES }, (_, n) => `crowd-${n}`)
      const orders = await Promise.all(names.map((name) => stead.api('POST', '/v1/sites', { name })))
      expect(orders.map(({ status }) => status)).toEqual(names.map(() => 201))
      await Promise.all(
        orders.map(async ({ headers }) => {
          const { state, error } = await stead.ended(headers.get('operation-id') as string, 280_000)
          expect([error, state]).toEqual([null, 'succeeded'])
        }),
      )
      for (const name of names) expect((await stead.visit(name)).text).toContain(`<title>${name}</title>`)
    } finally {
      await busy.terminate()
    }
  })
})

describe.skipIf(!core || !maySmallDisk)('a full disk', () => {
  let disk: SmallDisk
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    disk = await smallDisk(320)
    stead = await startStead({ below: disk.folder, env: { STEAD_PREPARED_SITES: '0', STEAD_DISK_RESERVE_MB: '8' } })
  })
  afterAll(async () => {
    await stead?.remove()
    await disk?.remove()
  })

  test('makes the operation fail with its reason and leaves nothing half-created; with free space a retry goes live', async () => {
    await disk.fill(20 * MB)
    const { headers, body } = await stead.api('POST', '/v1/sites', { name: 'no-room' })
    const operation = headers.get('operation-id') as string
    const failed = await stead.ended(operation)
    expect(failed).toMatchObject({ state: 'failed', error: expect.stringMatching(/disk of the host is full/) })
    expect((await stead.api('GET', `/v1/sites/${body.data.id}`)).body.data.state).toBe('deploying')
    expect(await readdir(join(stead.dataDir, 'sites'))).toEqual([])
    await disk.relieve()
    expect((await stead.api('POST', `/v1/operations/${operation}/retry`)).status).toBe(200)
    await stead.live(body.data.id)
    expect((await stead.visit('no-room')).text).toContain('<title>no-room</title>')
  })
})
