import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Site } from '../sites/site.ts'
import { replaceReleases } from './release.store.ts'
import { targetOf } from './releases.ts'
import { madeOffer, withReleases } from './samples.fixture.ts'
import { updateDefinition } from './update-cms-version.job.ts'

describe('the release that a site is to run', () => {
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

  test('latest is the newest stable one, whatever order they come in', () => {
    const all = releases('6.8.9', '6.8.10', '6.9-beta2', '6.7.1')
    expect(targetOf(all, on('stable'), 'latest')).toEqual({ version: '6.8.10', channel: 'stable' })
    expect(targetOf(all, on('beta'), 'latest')).toEqual({ version: '6.8.10', channel: 'stable' })
  })

  test('without a version it is the other of the two', () => {
    const all = releases('6.8', '6.9-beta1', '6.9-RC1')
    expect(targetOf(all, on('stable'), undefined)).toEqual({ version: '6.9-RC1', channel: 'beta' })
    expect(targetOf(all, on('beta'), undefined)).toEqual({ version: '6.8', channel: 'stable' })
  })

  test('needs a PHP that the site has: the number of its line is what counts', () => {
    const needing = (phpVersion: string) => [{ ...madeOffer('7.0', phpVersion), seenAt: 1 }]
    for (const fits of ['7.4', '8', '8.1', '8.1.99'])
      expect(targetOf(needing(fits), on('stable'), 'latest').version).toBe('7.0')
    for (const newer of ['8.2', '8.10', '9.0.1'])
      expect(refused(() => targetOf(needing(newer), on('stable'), 'latest'))).toBe('php_too_old')
  })

  test('a beta of what is out already is none', () => {
    expect(refused(() => targetOf(releases('6.9', '6.9-RC1'), on('stable'), undefined))).toBe('no_beta_offered')
    expect(refused(() => targetOf(releases('6.9'), on('stable'), undefined))).toBe('no_beta_offered')
    expect(refused(() => targetOf([], on('stable'), 'latest'))).toBe('releases_unknown')
  })
})

describe('before anything is changed', () => {
  /** What a site that has one release and is to get another is found to be. */
  const look = async (has: string, wanted: string) => {
    const services = { homes: { ofSite: async () => ({ coreVersion: has }) }, hostedSite: async () => undefined }
    const context = { services, input: { siteId: 1, version: wanted, channel: 'stable' }, results: {} }
    return updateDefinition.steps.look.run(context as never)
  }

  test('an order of the past that is retried puts no older release back', async () => {
    await expect(look('6.8.3', '6.8.2')).rejects.toThrow('The site runs WordPress 6.8.3, which is newer than 6.8.2')
    expect(await look('6.8.2', '6.8.3')).toMatchObject({ version: '6.8.2' })
  })

  test('the way back from a beta is open', async () => {
    expect(await look('6.9-beta1', '6.8.2')).toMatchObject({ version: '6.9-beta1' })
  })
})

describe.each(dialects)('an order of another release on $dialect', ({ dialect, skip }) => {
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
  const operations = () => api.database.read.selectFrom('operations').select(['type', 'input']).execute()

  test('of the one that it has starts nothing; it only leaves the betas', async () => {
    await withReleases(api, '6.8')
    await api.database.transaction((tx) => tx.updateTable('sites').set({ core_channel: 'beta' }).execute())
    const { status, headers, body } = await order({})
    expect([status, headers['operation-id'], await operations()]).toEqual([200, undefined, []])
    expect(body.data.cmsVersion).toBe('Current Stable Release (6.8)')
    expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.cmsVersion).toBe('Current Stable Release (6.8)')
  })

  test('asks nobody when that was found out within the hour', async () => {
    await withReleases(api, '6.8', '6.9')
    const { status, body } = await order({ version: 'latest' })
    // what it runs until the operation has ended
    expect([status, body.data.cmsVersion]).toEqual([200, 'Current Stable Release (6.8)'])
    expect(await operations()).toEqual([
      {
        type: 'site.update_cms_version',
        input: JSON.stringify({ siteId: site, version: '6.9', channel: 'stable' }),
      },
    ])
  })

  test('that needs a newer PHP than the site has is refused, with that in words, and nothing is begun', async () => {
    const needing = (phpVersion: string) =>
      api.database.transaction((tx) => replaceReleases(tx, [madeOffer('7.0', phpVersion)], Date.now()))
    await needing('9.1')
    const { status, body } = await order({ version: 'latest' })
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('WordPress 7.0 needs PHP 9.1 or newer')])
    expect(await operations()).toEqual([])
    await needing('8.0')
    expect((await order({ version: 'latest' })).status).toBe(200)
    expect(await operations()).toHaveLength(1)
  })

  test('is for latest, or without a word', async () => {
    await withReleases(api, '6.9')
    expect((await order({ version: '6.9' })).status).toBe(400)
    expect(await operations()).toEqual([])
  })
})
