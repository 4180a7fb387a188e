import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { until } from '../../platform/operations/harness.ts'
import { createOperationWatch } from '../../platform/operations/worker/watch.ts'
import { findSite } from '../sites/site.store.ts'
import type { Site } from '../sites/site.ts'
import { madeOffer, withReleases } from './cms-version.fixture.ts'
import { replaceReleases } from './release.store.ts'
import { releasesNow, updateTarget } from './releases.ts'
import { updateDefinition } from './update-cms-version.job.ts'

describe('the release for a site', () => {
  const releases = (...versions: string[]) => versions.map((version) => ({ ...madeOffer(version), seenAt: 1 }))
  const on = (coreChannel: Site['coreChannel']) => ({ coreChannel, phpVersion: '8.1' }) as Site
  const refused = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      if (error instanceof Problem) return error.code
      throw error
    }
    return undefined
  }

  test('latest is the newest stable one, in any order', () => {
    const all = releases('6.8.9', '6.8.10', '6.9-beta2', '6.7.1')
    expect(updateTarget(all, on('stable'), 'latest')).toEqual({ version: '6.8.10', channel: 'stable' })
    expect(updateTarget(all, on('beta'), 'latest')).toEqual({ version: '6.8.10', channel: 'stable' })
  })

  test('without a version, switches between stable and beta', () => {
    const all = releases('6.8', '6.9-beta1', '6.9-RC1')
    expect(updateTarget(all, on('stable'), undefined)).toEqual({ version: '6.9-RC1', channel: 'beta' })
    expect(updateTarget(all, on('beta'), undefined)).toEqual({ version: '6.8', channel: 'stable' })
  })

  test('needs a PHP version that the site has, by major and minor number', () => {
    const needing = (phpVersion: string) => [{ ...madeOffer('7.0', phpVersion), seenAt: 1 }]
    for (const fits of ['7.4', '8', '8.1', '8.1.99'])
      expect(updateTarget(needing(fits), on('stable'), 'latest').version).toBe('7.0')
    for (const newer of ['8.2', '8.10', '9.0.1'])
      expect(refused(() => updateTarget(needing(newer), on('stable'), 'latest'))).toBe('php_too_old')
  })

  test('does not offer a beta of a published release', () => {
    expect(refused(() => updateTarget(releases('6.9', '6.9-RC1'), on('stable'), undefined))).toBe('no_beta_offered')
    expect(refused(() => updateTarget(releases('6.9'), on('stable'), undefined))).toBe('no_beta_offered')
    expect(refused(() => updateTarget([], on('stable'), 'latest'))).toBe('releases_unknown')
  })
})

describe('before anything is changed', () => {
  /** Returns the state of a site that has one release and should get another. */
  const look = async (has: string, wanted: string) => {
    const services = {
      siteDirectories: { ofSite: async () => ({ coreVersion: has }) },
      hostedSite: async () => undefined,
    }
    const context = { services, input: { siteId: 1, version: wanted, channel: 'stable' }, results: {} }
    return updateDefinition.steps.look.run(context as never)
  }

  test('a retried old request does not install an older release', async () => {
    await expect(look('6.8.3', '6.8.2')).rejects.toThrow('The site runs WordPress 6.8.3, which is newer than 6.8.2')
    expect(await look('6.8.2', '6.8.3')).toMatchObject({ version: '6.8.2' })
  })

  test('allows the return from a beta', async () => {
    expect(await look('6.9-beta1', '6.8.2')).toMatchObject({ version: '6.9-beta1' })
  })
})

describe.each(dialects)('requesting another release on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let site: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'moving')
    await api.database.transaction((tx) => tx.updateTable('sites').set({ core_version: '6.8' }).execute())
  })
  afterEach(() => api?.close())

  const order = (body: object) => owner.call('PUT', `/v1/sites/${site}/cms/version`, body)
  const operations = () =>
    api.database.read
      .selectFrom('operations')
      .select(['type', 'input'])
      .where('type', '<>', 'cms.look_for_releases')
      .execute()
  const looks = () =>
    api.database.read
      .selectFrom('operations')
      .select(['id', 'finished_at'])
      .where('type', '=', 'cms.look_for_releases')
      .execute()
  /** Simulates the host's checks, and how they end, until the responses arrive. */
  const answered = async <Answer>(answers: Promise<Answer>, find: () => Promise<unknown>, error?: string) => {
    let isOver = false
    const over = answers.finally(() => {
      isOver = true
    })
    await until(async () => {
      const open = (await looks()).filter(({ finished_at }) => finished_at === null)
      if (open.length > 0) {
        await find()
        const end = { state: error ? 'failed' : 'succeeded', error: error ?? null, finished_at: Date.now() } as const
        const ids = open.map(({ id }) => id)
        await api.database.transaction((tx) => tx.updateTable('operations').set(end).where('id', 'in', ids).execute())
      }
      return isOver
    })
    return over
  }
  const nothing = async () => {}

  test('of the current one starts nothing, and only leaves the betas', async () => {
    await api.database.transaction((tx) => tx.updateTable('sites').set({ core_channel: 'beta' }).execute())
    const { status, headers, body } = await answered(order({}), () => withReleases(api, '6.8'))
    expect([status, headers['operation-id'], await operations()]).toEqual([200, undefined, []])
    expect(body.data.cmsVersion).toBe('Current Stable Release (6.8)')
    expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.cmsVersion).toBe('Current Stable Release (6.8)')
  })

  test('uses what is offered at this moment, whatever was known a minute before', async () => {
    await withReleases(api, '6.8', '6.9')
    const found = async () => {
      const withdrawn = { ...madeOffer('6.9'), isOffered: false }
      const offers = [madeOffer('6.8'), madeOffer('6.8.1'), withdrawn]
      await api.database.transaction((tx) => replaceReleases(tx, offers, Date.now() + 1))
    }
    const { status, body } = await answered(order({ version: 'latest' }), found)
    // The site runs this version until the operation has ended.
    expect([status, body.message, body.data.cmsVersion]).toEqual([200, 'Success', 'Current Stable Release (6.8)'])
    expect(await operations()).toEqual([
      {
        type: 'site.update_cms_version',
        input: JSON.stringify({ siteId: site, version: '6.8.1', channel: 'stable' }),
      },
    ])
  })

  test.each([
    ['the host fails', 'the network is down', 'the network is down'],
    ['no source answers', undefined, 'no source of WordPress responds'],
  ])('uses what was last known when %s, and says so', async (_when, error, reason) => {
    await api.database.transaction((tx) => replaceReleases(tx, [madeOffer('6.9')], Date.UTC(2026, 0, 2, 3, 4)))
    const { status, body } = await answered(order({ version: 'latest' }), nothing, error)
    expect(status).toBe(200)
    expect(body.message).toMatch(/^Stead could not check for WordPress releases: /)
    expect(body.message).toContain(reason)
    expect(body.message).toContain('It uses the releases known at 2026-01-02 03:04 UTC.')
    expect(await operations()).toHaveLength(1)
  })

  test('waits for a queued check, and starts no other', async () => {
    const { database } = api
    const watches = createOperationWatch(database)
    const followed: number[] = []
    const seen: typeof watches = {
      ...watches,
      follow(id, signal) {
        followed.push(id)
        return watches.follow(id, signal)
      },
    }
    const context = { database, watches: seen, now: Date.now(), site: await findSite(database.read, site) }
    const ask = () => releasesNow(context as unknown as Parameters<typeof releasesNow>[0])
    const [first, second] = [ask(), until(() => followed.length === 1).then(ask)]
    await until(() => followed.length === 2)
    const both = await answered(Promise.all([first, second]), () => withReleases(api, '6.8'))
    watches.close()
    expect(both.map(({ fault }) => fault)).toEqual([undefined, undefined])
    expect(await looks()).toHaveLength(1)
  })

  test('refuses a release that needs a newer PHP version than the site’s, with the reason, and starts nothing', async () => {
    const needing = (phpVersion: string) => () =>
      api.database.transaction((tx) => replaceReleases(tx, [madeOffer('7.0', phpVersion)], Date.now()))
    const { status, body } = await answered(order({ version: 'latest' }), needing('9.1'))
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('WordPress 7.0 requires PHP 9.1 or newer')])
    expect(await operations()).toEqual([])
    expect((await answered(order({ version: 'latest' }), needing('8.0'))).status).toBe(200)
    expect(await operations()).toHaveLength(1)
  })

  test('accepts latest, or no version', async () => {
    expect((await order({ version: '6.9' })).status).toBe(400)
    expect(await operations()).toEqual([])
  })
})
