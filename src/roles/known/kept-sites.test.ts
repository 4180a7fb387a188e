import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSealer } from '../../platform/crypto/seal.ts'
import { databaseLost } from '../../platform/db/open-fault.ts'
import { noLog } from '../../platform/log/log.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { HostInUse } from '../host/take-data-folder.ts'
import { keptSites } from './kept-sites.ts'
import { knowsSites } from './knows-sites.ts'

let dataDir: string
const sealer = createSealer(randomBytes(32))
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-kept-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const context = () => ({ config: { dataDir }, sealer, log: noLog })
const host = { hostId: 3, identity: 'me', name: 'h1', port: 8090 }
const knows = (name = 'host') => knowsSites(context(), name)
async function started() {
  const kept = keptSites(context())
  kept.use(host)
  await kept.keep([])
  return kept
}

test('a host that has started once knows its sites at the next start, and other roles do not', async () => {
  const kept = keptSites(context())
  await kept.keep([])
  expect(await knows()).toBe(false)
  await started()
  expect(await keptSites(context()).read()).toEqual({ ...host, sites: [] })
  expect([await knows(), await knows('serve'), await knows('edge'), await knows('control')]).toEqual([
    ...[true, true, false, false],
  ])
})

test('a host that is refused forgets its sites, and does not keep them again', async () => {
  const kept = await started()
  const refusal = new OperatorError('h1 is marked lost')
  await expect(kept.forgetIfRefused(() => Promise.reject(refusal))).rejects.toBe(refusal)
  await kept.keep([])
  expect(await knows()).toBe(false)
})

test.each([
  new HostInUse('another process has the folder'),
  databaseLost({ code: 'ECONNREFUSED' }, { url: 'postgres://db.test/stead', file: '' }),
  new Error('unexpected'),
])('a failure that says nothing about the host leaves what it knows: %s', async (error) => {
  const kept = await started()
  await expect(kept.forgetIfRefused(() => Promise.reject(error))).rejects.toBe(error)
  expect(await knows()).toBe(true)
})
