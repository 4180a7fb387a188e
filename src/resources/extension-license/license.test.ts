import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import { startWorker } from '../../platform/operations/harness.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { changeSite, findSite } from '../sites/site.store.ts'
import type { Site } from '../sites/site.ts'
import { dropCopiedLicense } from './copied-license.ts'
import { writeLicense } from './write-license.job.ts'

describe.each(dialects.filter(({ skip }) => !skip))('extension licenses, on $dialect', ({ dialect }) => {
  let api: TestApi
  let host: FakeHost
  let worker: ReturnType<typeof startWorker>
  let owner: Person
  let site: number
  let count = 0
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    host = await fakeHost(api)
    worker = startWorker(api.database, [writeLicense], {
      runner: 'host',
      hostId: host.hostId,
      services: host.services,
    })
  })
  afterAll(async () => {
    await worker?.stop(1000)
    await host?.close()
    await api?.close()
  })
  beforeEach(async () => {
    site = await api.site(owner, `licensed-${++count}`)
    await host.giveDirectory(site)
    await api.database.transaction((tx) => changeSite(tx, site, { writtenAddress: 'a.example.com' }, 1))
  })

  const call = (method: string) => owner.call(method, `/v1/sites/${site}/ext`)
  const license = async () => (await call('GET')).body.data
  const entries = async () => {
    const rows = api.database.read.selectFrom('activity').select('action').where('site_id', '=', site)
    return (await rows.where('action', 'like', 'extension_license.%').orderBy('id').execute()).map(
      ({ action }) => action,
    )
  }

  test('200: null before the first; issued once, then the same key is written again', async () => {
    const ofSite = async () => (await owner.call('GET', `/v1/sites/${site}`)).body.data.ext
    expect([await license(), await ofSite()]).toEqual([null, null])
    const first = await call('POST')
    expect([first.status, first.body.data]).toEqual([200, null])
    const issued = await license()
    expect(issued).toEqual({
      id: expect.any(Number),
      siteId: site,
      licenseKey: expect.stringMatching(/^[0-9a-f]{40}$/),
      issuedAt: expect.any(Number),
      revokedAt: null,
    })
    expect(await ofSite()).toEqual(issued)
    // Seconds, not milliseconds.
    expect(issued.issuedAt).toBeLessThan(1e11)
    expect(host.wordpress(site).license).toBe(issued.licenseKey)
    host.wordpress(site).license = 'what a plugin wrote'
    expect((await call('POST')).status).toBe(200)
    expect(await license()).toEqual(issued)
    expect(host.wordpress(site).license).toBe(issued.licenseKey)
    expect(await entries()).toEqual(['extension_license.issued', 'extension_license.written'])
  })

  test('200: two simultaneous requests get one license', async () => {
    const answers = await Promise.all([call('POST'), call('POST')])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await entries()).toEqual(['extension_license.issued', 'extension_license.written'])
    expect(host.wordpress(site).license).toBe((await license()).licenseKey)
  })

  test('200: a revoked key leaves the site and stays readable with its end; the next license has another key', async () => {
    await call('POST')
    const issued = await license()
    expect((await call('DELETE')).status).toBe(200)
    expect(await license()).toEqual({ ...issued, revokedAt: expect.any(Number) })
    expect(host.wordpress(site).license).toBeNull()
    // A time in the past.
    await api.database.transaction(async (tx) => {
      await tx.updateTable('extension_licenses').set({ revoked_at: 5000 }).where('site_id', '=', site).execute()
    })
    await call('DELETE')
    expect(await license()).toEqual({ ...issued, revokedAt: 5 })
    expect(await entries()).toEqual(['extension_license.issued', 'extension_license.revoked'])
    await call('POST')
    const next = await license()
    expect(next.revokedAt).toBeNull()
    expect([next.id === issued.id, next.licenseKey === issued.licenseKey]).toEqual([false, false])
    expect(host.wordpress(site).license).toBe(next.licenseKey)
  })

  test('200: revoking without a license changes nothing', async () => {
    const answer = await call('DELETE')
    expect([answer.status, answer.headers['operation-id']]).toEqual([200, undefined])
    expect([await license(), await entries()]).toEqual([null, []])
  })

  test('removes the license of its source from a clone that goes live, and starts nothing for other new sites', async () => {
    const plain = (await findSite(api.database.read, site)) as Site
    const started: number[] = []
    const live = (which: Site) =>
      api.database.transaction((tx) =>
        dropCopiedLicense(
          tx,
          which,
          changeBy(tx, { actor: 'systems', about: aboutSite(which), now: Date.now(), started }),
        ),
      )
    await live(plain)
    expect(started).toEqual([])
    host.wordpress(site).license = 'of the source'
    await live({ ...plain, clonedFromId: 1 })
    await expect.poll(() => host.wordpress(site).license).toBeNull()
  })
})
