import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { JobStand } from '../../../test/contract/job-stand.ts'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import type { JobWorld } from '../../../test/support/contract.ts'
import { dialects } from '../../../test/support/database.ts'
import { until } from '../../../test/support/stead.ts'
import { PhpStarved } from '../../hosting/php/runtime.ts'
import type { AnyDefinition } from '../../platform/operations/definition.ts'
import { findOperation } from '../../platform/operations/read.ts'
import { changeSite } from '../sites/site.store.ts'
import {
  activatePluginsJob,
  deactivatePluginsJob,
  deletePluginsJob,
  installPluginsJob,
  updatePluginsJob,
} from './change-plugins.job.ts'
import { listPluginsJob } from './list-plugins.job.ts'
import { meantBy } from './plugin.ts'

describe.each(dialects)('plugins of a site on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let stand: JobStand
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    stand = new JobStand(api)
  })
  afterEach(async () => {
    await stand?.tidy()
    await api?.close()
  })

  describe('a request', () => {
    const ask = async (method: string, rest: string, plugins: object[], settings?: { siteName?: string }) => {
      const owner = await api.person('owner@example.com')
      const id = await api.site(owner, settings?.siteName ?? 'plugged')
      const before = await operations()
      const { status, body } = await owner.call(method, `/v1/sites/${id}/plugins${rest}`, { plugins })
      return { status, errors: body.errors, started: (await operations()) - before }
    }
    const operations = async () => (await api.database.read.selectFrom('operations').select('id').execute()).length

    test('is refused as a whole, with each fault named', async () => {
      const wrong = [
        { path: 'forms' },
        { path: 'forms', version: '1.0' },
        { path: 'no-such' },
        { path: 'mail', version: '7' },
        { path: 'a b' },
        { path: 'http://example.com/a.zip' },
        { path: 'https://me:secret@example.com/a.zip' },
        { path: 'https://me@example.com/a.zip' },
        { path: 'https://:secret@example.com/a.zip' },
        { path: 'https://example.com/a.zip', version: '1.0' },
        { path: 'https://' },
      ]
      expect(await ask('POST', '', wrong)).toEqual({
        status: 400,
        started: 0,
        errors: [
          'plugins: forms: listed twice.',
          'plugins: no-such: the plugin directory does not list this plugin.',
          'plugins: mail: version 7 does not exist, the latest is 5.3.',
          'plugins: a b: not a slug or the URL of a zip file.',
          'plugins: http://example.com/a.zip: not an https URL.',
          'plugins: https://me:secret@example.com/a.zip: the URL must not contain a user name or password.',
          'plugins: https://me@example.com/a.zip: the URL must not contain a user name or password.',
          'plugins: https://:secret@example.com/a.zip: the URL must not contain a user name or password.',
          'plugins: https://example.com/a.zip: you cannot choose a version of a zip file.',
          'plugins: https://: not a valid URL.',
        ],
      })
    })

    test('takes a slug and not a URL if something must already be installed', async () => {
      const address = [{ path: 'https://example.com/a.zip' }]
      const refused = { status: 400, started: 0, errors: ['plugins: https://example.com/a.zip: not a slug.'] }
      expect(await ask('PUT', '', address)).toEqual(refused)
      expect(await ask('PUT', '/activate', address, { siteName: 'second' })).toEqual(refused)
      expect(await ask('DELETE', '', [{ path: '..' }], { siteName: 'third' })).toMatchObject({
        status: 400,
        started: 0,
      })
    })

    test('names at most fifty at once', async () => {
      const many = Array.from({ length: 51 }, (_, number) => ({ path: `forms${number}` }))
      expect(await ask('POST', '', many)).toMatchObject({ status: 400, started: 0 })
      expect(await ask('POST', '', many.slice(1), { siteName: 'second' })).toMatchObject({ status: 200, started: 1 })
    })
  })

  describe('results', () => {
    let world: JobWorld
    let web: string
    beforeEach(async (context) => {
      if (skip) return context.skip()
      world = await stand.newWorld()
      web = join(await world.host.giveDirectory(world.site), 'web/wp-content/plugins')
      await api.database.transaction((tx) =>
        changeSite(tx, world.site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
      )
    })

    const put = async (name: string, version: string) => {
      await mkdir(join(web, name), { recursive: true })
      await writeFile(join(web, name, `${name}.php`), version)
      world.host.wordpress(world.site).activePlugins.add(`${name}/${name}.php`)
    }
    const versionOf = (name: string) => readFile(join(web, name, `${name}.php`), 'utf8')
    const run = async (definition: AnyDefinition, plugins: [string, string?, string?][], onto = world) => {
      const input = {
        siteId: onto.site,
        plugins: plugins.map(([path, version, folder = path]) => ({
          path,
          version: version ?? null,
          package: version ? { url: `https://example.com/${folder}.${version}.zip`, version } : null,
        })),
      }
      stand.start(onto, definition)
      const id = await stand.ask(onto, { prepare: async () => ({ input }), done: async () => {} }, definition)
      return ended(id)
    }
    const ended = (id: number) =>
      until('the operation has ended', async () => {
        const found = await findOperation(api.database.read, id)
        return found?.finishedAt != null && found
      })
    const results = async (id: number) => {
      const { body } = await world.owner.call('GET', `/v1/operations/${id}`)
      return body.data.results.map(({ subject, outcome }: Record<string, string>) => [subject, outcome])
    }
    const events = async () => {
      const rows = await api.database.read.selectFrom('events').selectAll().orderBy('id').execute()
      return rows.filter(({ type }) => type.startsWith('site_plugin')).map(({ type, data }) => [type, JSON.parse(data)])
    }

    test('a shop on the embedded database gets advice about MariaDB, if its host has it', async () => {
      const warnings = async (definition: AnyDefinition, plugins: [string, string?][]) =>
        (await run(definition, plugins)).steps.flatMap(({ warning }) => warning ?? [])
      expect(await warnings(installPluginsJob, [['woocommerce', '10.4']])).toEqual([])
      const databaseKindFor = (version: string) => (version === '8.2' ? ('mariadb' as const) : ('sqlite' as const))
      Object.assign(world.host.services, { databaseKindFor })
      const told = [expect.stringContaining('{"runtime":"native","php_version":"8.2"}')]
      expect(await warnings(activatePluginsJob, [['woocommerce']])).toEqual(told)
      // The list, on which the panel's advice is based, is stored again.
      const listings = () =>
        api.database.read.selectFrom('operations').select('id').where('type', '=', 'plugin.list').execute()
      expect((await listings()).length).toBe(2)
      expect(await warnings(installPluginsJob, [['mail', '2.0']])).toEqual([])
      expect((await listings()).length).toBe(2)
      expect(await warnings(deactivatePluginsJob, [['woocommerce']])).toEqual([])
    })

    test('an update that breaks the site is rolled back, the others succeed, and each is reported', async () => {
      await put('forms', '1.0')
      await put('mail', '1.0')
      const between = vi.spyOn(world.host.services.pool, 'between')
      const { id, state, error } = await run(updatePluginsJob, [
        ['forms', '6.6.6'],
        ['mail', '2.0'],
      ])
      expect([state, error]).toEqual(['failed', 'forms: it breaks the site: Uncaught Error in forms/forms.php'])
      expect([await versionOf('forms'), await versionOf('mail')]).toEqual(['1.0', '2.0'])
      // PHP would otherwise have outdated knowledge of the files.
      expect(between.mock.calls.map(([, , options]) => options)).toContainEqual({ endsProcess: true })
      expect(await results(id)).toEqual([
        ['forms', 'failed'],
        ['mail', 'updated'],
      ])
      const reason = 'it breaks the site: Uncaught Error in forms/forms.php'
      expect(await events()).toEqual([
        ['site_plugin_update_failed', { path: 'forms', version: '6.6.6', reason }],
        ['site_plugin_updated_successfully', { path: 'mail', version: '2.0' }],
      ])
      const { read } = world.api.database
      const alerts = await read.selectFrom('alerts').selectAll().where('site_id', '=', world.site).execute()
      expect(alerts).toMatchObject([{ kind: 'update_undone', subject: 'forms', detail: reason, ended_at: null }])
      const { body } = await world.owner.call('POST', `/v1/sites/${world.site}/logs/activity`, {})
      expect(body.data.map(({ message }: { message: string }) => message)).toEqual(
        expect.arrayContaining([`forms: ${reason}`, 'Updated mail from 1.0 to 2.0']),
      )
    })

    test.each([
      { definition: installPluginsJob, good: 'site_plugin_installed_successfully', bad: 'site_plugin_install_failed' },
      {
        definition: activatePluginsJob,
        good: 'site_plugin_activated_successfully',
        bad: 'site_plugin_activation_failed',
      },
      {
        definition: deactivatePluginsJob,
        good: 'site_plugin_deactivated_successfully',
        bad: 'site_plugin_deactivation_failed',
      },
      { definition: deletePluginsJob, good: 'site_plugin_deleted_successfully', bad: 'site_plugin_delete_failed' },
    ])('reports $good and $bad with the plugin', async ({ definition, good, bad }) => {
      const isInstall = definition === installPluginsJob
      if (!isInstall) await put('forms', '1.0')
      if (definition === activatePluginsJob) world.host.wordpress(world.site).activePlugins.clear()
      if (definition === deletePluginsJob) await put('stuck', '1.0')
      // One that breaks the site, one that cannot be deleted, and one that does not exist.
      const other: [string, string?] = isInstall
        ? ['worse', '6.6.6']
        : [definition === deletePluginsJob ? 'stuck' : 'absent']
      await run(definition, [isInstall ? ['forms', '1.0'] : ['forms'], other])
      expect(await events()).toEqual([
        [good, { path: 'forms', version: isInstall ? '1.0' : expect.anything() }],
        [bad, expect.objectContaining({ path: other[0], reason: expect.any(String) })],
      ])
    })

    test.each([
      ['PUT', ''],
      ['PUT', '/activate'],
      ['PUT', '/deactivate'],
      ['DELETE', ''],
    ])('%s %s refuses each plugin that is not installed before anything starts', async (method, rest) => {
      await put('forms', '1.0')
      stand.start(world, listPluginsJob)
      const ask = (...paths: string[]) =>
        world.owner.call(method, `/v1/sites/${world.site}/plugins${rest}`, { plugins: paths.map((path) => ({ path })) })
      const started = async () =>
        (
          await api.database.read.selectFrom('operations').select('type').where('site_id', '=', world.site).execute()
        ).map(({ type }) => type)
      const { status, body } = await ask('forms', 'absent', 'a b', 'other')
      expect([status, body.errors]).toEqual([
        400,
        [
          'plugins: absent: not installed.',
          expect.stringContaining('plugins: a b: not a slug'),
          'plugins: other: not installed.',
        ],
      ])
      expect(await started()).toEqual([])
      expect((await ask('forms')).status).toBe(200)
      // It runs after the queued operation.
      expect(
        (await world.owner.call('POST', `/v1/sites/${world.site}/plugins`, { plugins: [{ path: 'other' }] })).status,
      ).toBe(200)
      expect((await ask('other')).status).toBe(200)
      expect(await started()).toHaveLength(3)
    })

    test('deleting a plugin that is not installed fails, and is not reported as a deletion', async () => {
      const { state, error } = await run(deletePluginsJob, [['absent']])
      expect([state, error]).toEqual(['failed', 'absent: it is not installed'])
      expect((await events()).map(([type]) => type)).toEqual(['site_plugin_delete_failed'])
    })

    test('a retry repeats what failed, and nothing else', async () => {
      await put('forms', '1.0')
      const { id } = await run(updatePluginsJob, [
        ['absent', '2.0'],
        ['forms', '2.0'],
      ])
      expect(await results(id)).toEqual([
        ['absent', 'failed'],
        ['forms', 'updated'],
      ])
      await put('absent', '1.0')
      await stand.retry(id)
      expect(await ended(id)).toMatchObject({ state: 'succeeded' })
      expect(await results(id)).toEqual([
        ['absent', 'updated'],
        ['forms', 'updated'],
      ])
      expect((await events()).filter(([, { path }]) => path === 'forms')).toHaveLength(1)
    })

    test('a plugin that breaks only wp-admin is rolled back, and one that the machine had no time for is retried', async () => {
      await put('forms', '1.0')
      const broken = await run(updatePluginsJob, [['forms', '7.7.7']])
      const reason = 'it breaks the site: wp-admin does not respond: Uncaught Error in forms/forms.php'
      expect([broken.state, broken.error, await versionOf('forms')]).toEqual(['failed', `forms: ${reason}`, '1.0'])
      const { pool } = world.host.services
      const runTask = pool.runTask.bind(pool)
      let answers = 0
      vi.spyOn(pool, 'runTask').mockImplementation(async (site, name, ...rest) => {
        if (name === 'front-page' && ++answers === 2) throw new PhpStarved('this server is too busy')
        return runTask(site, name, ...rest)
      })
      const slow = await run({ ...updatePluginsJob, backoff: { firstMs: 5, mostMs: 5 } }, [['forms', '2.0']])
      expect([slow.state, answers, await versionOf('forms')]).toEqual(['succeeded', 3, '2.0'])
    })

    test('reports statements that the database refuses since the change, but not earlier ones', async () => {
      await put('forms', '1.0')
      const { id, state } = await run(updatePluginsJob, [['forms', '5.5.5']])
      expect([state, await versionOf('forms')]).toEqual(['succeeded', '5.5.5'])
      const { body } = await world.owner.call('GET', `/v1/operations/${id}`)
      const said = expect.stringMatching(/refuses statements since then: near "\(": syntax error\. See the PHP log/)
      expect(body.data.results).toMatchObject([{ outcome: 'updated', message: said }])
      expect(body.data.steps.map(({ warning }: { warning: string | null }) => warning)).toContainEqual(said)
      await put('mail', '1.0')
      const other = await run(updatePluginsJob, [['mail', '2.0']])
      expect((await world.owner.call('GET', `/v1/operations/${other.id}`)).body.data.results).toMatchObject([
        { message: 'Updated mail from 1.0 to 2.0' },
      ])
    })

    test('does not warn of statements that the database refuses only until a plugin has created its tables', async () => {
      await put('forms', '1.0')
      const { pool } = world.host.services
      const runTask = pool.runTask.bind(pool)
      let pages = 0
      vi.spyOn(pool, 'runTask').mockImplementation(async (site, name, ...rest) => {
        const result = await runTask(site, name, ...rest)
        // The first page after the update.
        return name === 'front-page' && ++pages === 2
          ? { ...result, databaseErrors: ["Table 'forms' doesn't exist"] }
          : result
      })
      const { id } = await run(updatePluginsJob, [['forms', '2.0']])
      const { body } = await world.owner.call('GET', `/v1/operations/${id}`)
      expect([pages, body.data.results]).toMatchObject([3, [{ message: 'Updated forms from 1.0 to 2.0' }]])
    })

    test('rolls back what a crash has interrupted before it starts again', async () => {
      await put('forms', '1.0')
      const { pool } = world.host.services
      const runTask = pool.runTask.bind(pool)
      let answers = 0
      vi.spyOn(pool, 'runTask').mockImplementation(async (site, name, ...rest) => {
        // The second one comes after the files were replaced.
        if (name === 'front-page' && ++answers === 2) throw new Error('the host was ended')
        return runTask(site, name, ...rest)
      })
      const { id, state } = await run({ ...updatePluginsJob, backoff: { firstMs: 5, mostMs: 5 } }, [['forms', '2.0']])
      expect([state, answers, await versionOf('forms')]).toEqual(['succeeded', 3, '2.0'])
      const { body } = await world.owner.call('GET', `/v1/operations/${id}`)
      expect(body.data.results).toMatchObject([{ outcome: 'updated', message: 'Updated forms from 1.0 to 2.0' }])
    })

    test.each([
      ['of another folder', 'mail', 'its package contains the folder mail, but the plugin is installed in forms'],
      ['of a folder that none may have', '-forms', 'the name of the folder in the archive is not allowed'],
    ])('refuses a release %s, and changes nothing', async (_what, folder, reason) => {
      await put('forms', '1.0')
      const { state, error } = await run(updatePluginsJob, [['forms', '2.0', folder]])
      expect([state, error, await versionOf('forms')]).toEqual(['failed', `forms: ${reason}`, '1.0'])
      expect(existsSync(join(web, folder))).toBe(false)
    })

    test('deletes nothing elsewhere if a site claims that its plugin is there', async () => {
      await put('forms', '1.0')
      const { pool } = world.host.services
      const runTask = pool.runTask.bind(pool)
      vi.spyOn(pool, 'runTask').mockImplementation(async (site, name, ...rest) => {
        const answer = await runTask(site, name, ...rest)
        if (name !== 'list-plugins') return answer
        const { plugins } = answer as { plugins: object[] }
        return { plugins: plugins.map((each) => ({ ...each, file: '../themes/forms.php' })) } as never
      })
      const { state, error } = await run(deletePluginsJob, [['forms']])
      expect([state, error]).toEqual(['failed', 'forms: the name of its folder is not allowed'])
      expect(await versionOf('forms')).toBe('1.0')
    })

    test('removes a new plugin that breaks the site', async () => {
      const { state } = await run(installPluginsJob, [['forms', '6.6.6']])
      expect([state, existsSync(join(web, 'forms'))]).toEqual(['failed', false])
      expect(world.host.wordpress(world.site).activePlugins.size).toBe(0)
    })

    test('an object cache of the site does not keep what was rolled back', async () => {
      for (const hasDropIn of [false, true]) {
        world.host.wordpress(world.site).hasDropIn = hasDropIn
        await run(installPluginsJob, [['forms', '6.6.6']])
        expect(world.host.wordpress(world.site).flushes).toBe(Number(hasDropIn))
      }
    })

    test('activating one that breaks the site leaves the site unchanged', async () => {
      await put('forms', '6.6.6')
      world.host.wordpress(world.site).activePlugins.clear()
      const { state } = await run(activatePluginsJob, [['forms']])
      expect([state, await versionOf('forms')]).toEqual(['failed', '6.6.6'])
      expect(world.host.wordpress(world.site).activePlugins.size).toBe(0)
    })

    test('changes a site that was already broken, because that may repair it', async () => {
      await put('bad', '6.6.6')
      await put('forms', '1.0')
      expect(await run(updatePluginsJob, [['forms', '2.0']])).toMatchObject({ state: 'succeeded' })
      expect(await versionOf('forms')).toBe('2.0')
    })

    test('installing an existing one activates it, or replaces its release', async () => {
      await put('forms', '1.0')
      const { id } = await run(installPluginsJob, [['forms', '1.0']])
      expect(await results(id)).toEqual([['forms', 'unchanged']])
      world.host.wordpress(world.site).activePlugins.clear()
      const second = await run(installPluginsJob, [['forms', '2.0']])
      expect(await results(second.id)).toEqual([['forms', 'installed']])
      expect([await versionOf('forms'), world.host.wordpress(world.site).activePlugins.size]).toEqual(['2.0', 1])
    })

    test('backs up files and database first, for an undo', async () => {
      await put('forms', '1.0')
      const { id } = await run(deletePluginsJob, [['forms']])
      expect(existsSync(join(web, 'forms'))).toBe(false)
      const kept = await api.database.read
        .selectFrom('backups')
        .select(['kind', 'origin', 'state'])
        .where('operation_id', '=', id)
        .orderBy('kind')
        .execute()
      expect(kept).toEqual([
        { kind: 'db', origin: 'undo', state: 'completed' },
        { kind: 'fs', origin: 'undo', state: 'completed' },
      ])
      const { status, body } = await world.owner.call('POST', `/v1/operations/${id}/undo`)
      expect([status, body.errors]).toEqual([200, null])
      const undo = await api.database.read
        .selectFrom('operations')
        .select('input')
        .where('id', '=', body.data.id)
        .executeTakeFirstOrThrow()
      expect(JSON.parse(undo.input)).toMatchObject({ scope: { paths: ['wp-content/plugins'] }, undoOf: id })
    })
  })
})

test('no path names must-use plugins and drop-ins', () => {
  const plugin = (name: string, status: 'active' | 'must-use' | 'dropin') =>
    ({ name, file: `${name}/${name}.php`, status }) as Parameters<typeof meantBy>[0][number]
  const all = [plugin('forms', 'must-use'), plugin('db.php', 'dropin'), plugin('mail', 'active')]
  expect(['forms', 'db.php', 'mail', 'mail/mail.php'].map((path) => meantBy(all, path)?.name)).toEqual([
    undefined,
    undefined,
    'mail',
    'mail',
  ])
})
