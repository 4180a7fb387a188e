import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import {
  answer,
  change,
  closedBy,
  deleteDirectory,
  directoryOf,
  give,
  isPurged,
  refuse,
  rows,
  unavailable,
} from '../../../test/support/job-worlds.ts'
import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import { changeSite, findSite } from '../sites/site.store.ts'
import { madeOffer, withReleases } from './cms-version.fixture.ts'
import { knownReleases, replaceReleases } from './release.store.ts'

/** A site with 6.8 that changes to another release, which a source offers. */
const updateOfRelease = (version: string): JobSample => ({
  async prepare(world) {
    const path = await world.host.giveDirectory(world.site)
    await writeFile(join(path, 'web/index.php'), 'of 6.8')
    await writeFile(join(path, 'web/own.php'), 'of the owner')
    await change(world, (tx) =>
      changeSite(tx, world.site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
    )
    await change(world, (tx) => replaceReleases(tx, [madeOffer(version)], Date.now()))
    return { input: { siteId: world.site, version, channel: 'stable' } }
  },
  async done(world) {
    const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
    expect(readFileSync(join(path, 'web/index.php'), 'utf8')).toBe(`<?php // of ${version}`)
    expect(readFileSync(join(path, 'web/own.php'), 'utf8')).toBe('of the owner')
    expect([coreVersion, (await findSite(world.api.database.read, world.site))?.coreVersion]).toEqual([
      version,
      version,
    ])
    expect([world.host.title(path), world.host.option(path, 'db_version')]).toEqual(['old', 'upgraded'])
    expect(existsSync(join(path, 'exchange'))).toBe(false)
    expect(readdirSync(join(path, 'private/database'))).toEqual(['site.sqlite'])
    expect(await closedBy(world)).toBeNull()
    expect(await rows(world, 'events', 'type', 'wp_version_changed', world.site)).toBe(1)
    expect(await isPurged(world)).toBe(true)
  },
  async left(world) {
    const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
    const isDone = (await rows(world, 'events', 'type', 'wp_version_changed', world.site)) === 1
    expect(readFileSync(join(path, 'web/index.php'), 'utf8')).toBe(isDone ? `<?php // of ${version}` : 'of 6.8')
    const runs = isDone ? version : '6.8'
    expect([coreVersion, (await findSite(world.api.database.read, world.site))?.coreVersion]).toEqual([runs, runs])
    // The change of an upgrade to a database cannot be undone there.
    expect(world.host.option(path, 'db_version')).toBe(isDone ? 'upgraded' : 'old')
    expect(world.host.title(path)).toBe('old')
    expect(await closedBy(world)).toBeNull()
    expect(world.host.held.has(world.site)).toBe(false)
  },
})

/** Makes the site fail its checks after the change. */
function onceThenRefuse(first: unknown): () => unknown {
  let asked = 0
  return () => (asked++ === 0 ? first : refuse())
}

const latest = { version: 'latest' }

const samples: readonly Sample[] = [
  {
    endpoint: 'updateCmsVersion',
    path: onSite('/cms/version'),
    body: () => latest,
    roles: ['update_site_cms_version'],
    prepare: (_, api) => withReleases(api, '99.0'),
  },
]

const examples: Examples = {
  async updateCmsVersion({ api }) {
    await withReleases(api, '99.0')
    return { body: latest }
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['updateCmsVersion'], code: 'no_beta_offered', example: () => ({ body: {} }), prepare: ({ api }) => withReleases(api, '6.9', '6.9-beta1') },
  { of: ['updateCmsVersion'], code: 'php_too_old', prepare: ({ api }) => api.database.transaction((tx) => replaceReleases(tx, [madeOffer('99.0', '9.9')], Date.now())) },
  { of: ['updateCmsVersion'], code: 'releases_unknown', prepare: ({ api }) => withReleases(api) },
  { of: ['updateCmsVersion'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
]

const causes: Contract['causes'] = {
  wp_version_changed: { cause: 'site.update_cms_version' },
}

const jobs: Record<string, JobSample> = {
  'cms.look_for_releases': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ api }) {
      expect((await knownReleases(api.database.read)).map(({ version }) => version)).toEqual(['6.9'])
    },
  },

  'cms.look_for_releases_nightly': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ api }) {
      expect(await knownReleases(api.database.read)).toMatchObject([
        { version: '6.9', phpVersion: '8.1', isOffered: true },
      ])
    },
  },

  'cms.plan_look': {
    prepare: async () => ({ input: {}, options: { siteId: null, hostId: null } }),
    async done({ api }) {
      const asked = api.database.read
        .selectFrom('operations')
        .select('id')
        .where('type', '=', 'cms.look_for_releases_nightly')
      expect(await asked.execute()).not.toEqual([])
    },
  },

  'site.update_cms_version': updateOfRelease('6.9'),

  'site.update_cms_version_by_schedule': updateOfRelease('6.8.1'),

  'cms.plan_updates': {
    async prepare(world) {
      const { host, site } = world
      await change(world, async (tx) => {
        await replaceReleases(tx, [madeOffer('6.8.1')], Date.now())
        await changeSite(tx, site, { coreVersion: '6.8' }, 1)
        await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
        // Other tests may have left more.
        await tx.updateTable('sites').set({ core_version: null }).where('id', '<>', site).execute()
        await tx.deleteFrom('failed_updates').execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      expect(await rows(world, 'operations', 'type', 'site.update_cms_version_by_schedule', world.site)).toBe(1)
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'site.update_cms_version', says: 'The site has no site directory on this host', wrong: (world) => deleteDirectory(world) },
  { type: 'site.update_cms_version', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { cores: { ...world.host.services.cores, ensure: unavailable } }) },
  { type: 'site.update_cms_version', says: 'The site runs WordPress 6.8, which is newer than 6.7', wrong: (_world, input) => { input.version = '6.7' } },
  { type: 'site.update_cms_version', says: 'The site does not respond with WordPress 6.9: ', wrong: (world) => answer(world, 'front-page', onceThenRefuse({ status: 200, bytes: 1, databaseErrors: [] })) },
  { type: 'cms.look_for_releases', says: 'No source provides WordPress 6.9', wrong: (world) => give(world, { cores: { offers: unavailable } }) },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
