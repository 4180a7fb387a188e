import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { JobStand } from '../../../test/contract/job-stand.ts'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import type { JobWorld } from '../../../test/support/contract.ts'
import { dialects } from '../../../test/support/database.ts'
import { answer, besideSite, directoryOf, loseRights, refuse } from '../../../test/support/job-worlds.ts'
import { until } from '../../../test/support/stead.ts'
import { MeasureFailed, MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import type {
  ComparedPictures,
  PagesToPicture,
  PagesToPictureAgain,
  TakenPictures,
} from '../../hosting/page-measure/take-pictures.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import { requeueOperation } from '../../platform/operations/control.ts'
import { definitionsByName } from '../../platform/operations/definition.ts'
import { findOperation } from '../../platform/operations/read.ts'
import { alertMails, tellAt } from '../alerts/alerts.fixture.ts'
import { madeOffer, withReleases } from '../cms-version/cms-version.fixture.ts'
import { replaceReleases } from '../cms-version/release.store.ts'
import { listPluginsJob } from '../plugins/list-plugins.job.ts'
import { changeSite } from '../sites/site.store.ts'
import { raiseUndone } from './alert-of-undo.ts'
import { undoneVersions } from './policy/undone.store.ts'
import { beginReport, countUpdates, findUpdate, updatesOfSite } from './safe-update.store.ts'
import { MOST_REPORTS } from './safe-update.ts'
import { updateSafelyJob } from './update-safely.job.ts'

const emptyOrder = { plugins: [], themes: [], skipped: [], paths: [] }

describe.each(dialects)('safe updates on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let stand: JobStand
  let world: JobWorld
  let web: string
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    stand = new JobStand(api)
    world = await stand.newWorld()
    web = join(await world.host.giveDirectory(world.site), 'web/wp-content')
    await api.database.transaction((tx) =>
      changeSite(tx, world.site, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1),
    )
    for (const name of ['forms', 'mail']) await put('plugins', name)
  })
  afterEach(async () => {
    await stand?.tidy()
    await api?.close()
  })

  const put = async (kind: 'plugins' | 'themes', name: string) => {
    await mkdir(join(web, kind, name), { recursive: true })
    await writeFile(join(web, kind, name, `${name}.php`), '1.0')
    if (kind === 'plugins') world.host.wordpress(world.site).activePlugins.add(`${name}/${name}.php`)
  }
  const versionOf = (path: string) => readFile(join(web, path), 'utf8')
  const versions = async () => [await versionOf('plugins/forms/forms.php'), await versionOf('plugins/mail/mail.php')]
  const order = (path: string, version = '2.0') => ({
    ...{ path, version },
    package: { url: `https://example.com/${path}.${version}.zip`, version },
  })
  const give = (services: object) => Object.assign(world.host.services, services)

  const update = async (more: object = {}) => {
    const input = {
      siteId: world.site,
      plugins: [order('forms'), order('mail')],
      themes: [],
      skipped: [],
      paths: [],
      ...more,
    }
    stand.start(world, updateSafelyJob)
    const sample = { prepare: async () => ({ input }), done: async () => {} }
    const id = await stand.ask(world, sample, updateSafelyJob)
    const operation = await until('the operation has ended', async () => {
      const found = await findOperation(api.database.read, id)
      return found?.finishedAt != null && found
    })
    const { body } = await world.owner.call('GET', `/v1/sites/${world.site}/safe-updates/${id}`)
    return { operation, report: body.data }
  }
  /** Changes what the browser sees of each page after the update. */
  const seeAfter = (
    change: (page: PagesToPicture['pages'][number], look: PagesToPictureAgain) => Partial<ComparedPictures>,
  ) => {
    const { comparePicturesAfter } = world.host.services
    give({
      comparePicturesAfter: (look: PagesToPictureAgain, onPage: (seen: ComparedPictures) => Promise<void>) =>
        comparePicturesAfter(look, async (seen) => {
          const page = look.pages.find((each) => each.page === seen.page)
          if (page) await onPage({ ...(seen as ComparedPictures), ...change(page, look) })
        }),
    })
  }
  /** Calls back with each look by a browser, before and after the update. */
  const noteLooks = (note: (look: PagesToPicture) => void) => {
    const { takePictures, comparePicturesAfter } = world.host.services
    give({
      takePictures: (look: PagesToPicture, onPage: never) => {
        note(look)
        return takePictures(look, onPage)
      },
      comparePicturesAfter: (look: PagesToPictureAgain, onPage: never) => {
        note(look)
        return comparePicturesAfter(look, onPage)
      },
    })
  }
  const events = async () => {
    const rows = await api.database.read.selectFrom('events').selectAll().orderBy('id').execute()
    return rows.filter(({ type }) => type.startsWith('safe_')).map(({ type, data }) => [type, JSON.parse(data)])
  }
  const updatesNow = () => updatesOfSite(api.database.read, world.site, { perPage: 9, offset: 0 })
  /** Does something to each answer after the update. */
  const afterUpdate = (change: (path: string) => { status?: number; log?: string } | Promise<object>) => {
    const { pool } = world.host.services
    const handle = async (...given: Parameters<typeof pool.handle>) => {
      const response = await pool.handle(...given)
      const [forms] = await versions()
      return forms === '2.0'
        ? { ...response, ...(await change(given[1].path.replace(/[?&]stead-look=.*/, ''))) }
        : response
    }
    give({ pool: { ...pool, handle } })
  }

  test('are kept if no page is worse, and reported', async () => {
    const { operation, report } = await update()
    expect([operation.state, await versions()]).toEqual(['succeeded', ['2.0', '2.0']])
    expect(report).toMatchObject({ state: 'kept', reason: null, differing_pages: 0, pictures_missing: null })
    expect(report.items.map(({ name, from, to }: Record<string, string>) => [name, from, to])).toEqual([
      ['forms', '1.0', '2.0'],
      ['mail', '1.0', '2.0'],
    ])
    expect(report.pages.map(({ kind, path }: Record<string, string>) => [kind, path])).toEqual([
      ['front', '/'],
      ['page', '/about/'],
      ['login', '/wp-login.php'],
    ])
    expect(await events()).toEqual([['safe_update_kept', { id: operation.id, plugins: ['forms', 'mail'], themes: [] }]])
    const left = join(world.host.services.config.dataDir, 'safe-updates')
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([])
  })

  test('are undone as a whole if a page is worse', async () => {
    afterUpdate((path) => (path === '/about/' ? { status: 500 } : {}))
    const { operation, report } = await update()
    const reason = 'The update was undone: newest page: status 200 became 500'
    expect([operation.state, operation.error]).toEqual(['failed', reason])
    expect(await versions()).toEqual(['1.0', '1.0'])
    expect(report).toMatchObject({ state: 'undone', reason, differing_pages: 1 })
    expect(await events()).toEqual([
      ['safe_update_undone', { id: operation.id, plugins: ['forms', 'mail'], themes: [], reason }],
    ])
  })

  test('judge a page by its second answer after the update', async () => {
    const asked = new Set<string>()
    afterUpdate((path) => (asked.size < asked.add(path).size ? { status: 500 } : {}))
    expect((await update()).report.state).toBe('kept')
  })

  test.each([
    [
      'a new error of any code',
      'PHP Fatal error:  Uncaught Error in /wordpress/wp-content/plugins/other/x.php on line 3',
      'undone',
    ],
    [
      'a new warning of an updated plugin',
      'PHP Warning:  Undefined in /wordpress/wp-content/plugins/forms/forms.php on line 3',
      'undone',
    ],
    [
      'a new warning of other code',
      'PHP Warning:  Undefined in /wordpress/wp-content/plugins/other/x.php on line 3',
      'kept',
    ],
    ['a notice', 'PHP Notice:  Undefined in /wordpress/wp-content/plugins/forms/forms.php on line 3', 'kept'],
    [
      'a warning that the site logged before',
      'PHP Warning:  Known 7 in /wordpress/wp-content/plugins/forms/forms.php on line 9',
      'kept',
    ],
  ])('judge by the PHP log: %s', async (_what, message, state) => {
    const log = join(web, '../../private/php-error.log')
    const line = (text: string) => `[21-Nov-2026 02:39:38 UTC] ${text}\n`
    await writeFile(log, line('PHP Warning:  Known 6 in /wordpress/wp-content/plugins/forms/forms.php on line 3'))
    afterUpdate(async () => {
      await appendFile(log, line(message))
      return {}
    })
    const { report } = await update()
    expect(report.state).toBe(state)
    if (state === 'undone') expect(report.log).toMatchObject([{ counts: true }])
  })

  test('do not judge by what was logged only while files were replaced', async () => {
    const file = join(web, '../../private/php-error.log')
    answer(world, 'front-page', async () => {
      const message = '[21-Nov-2026 02:39:38 UTC] PHP Fatal error:  No file in /wordpress/x.php on line 3\n'
      if ((await versions())[0] === '2.0') await appendFile(file, message)
      return { status: 200, bytes: 1, databaseErrors: [] }
    })
    const { report } = await update()
    expect([report.state, report.log]).toMatchObject(['kept', [{ severity: 'Fatal error', counts: false }]])
  })

  test('begin their report again when a person retries them', async () => {
    const states: (string | undefined)[] = []
    afterUpdate(async () => {
      states.push((await updatesNow())[0]?.state)
      return states.length <= 6 ? { status: 500 } : {}
    })
    const { operation, report } = await update()
    expect(report.state).toBe('undone')
    states.push(...Array(6).fill('in_progress'))
    const definitions = definitionsByName([updateSafelyJob])
    await api.database.transaction((tx) => requeueOperation(tx, operation.id, definitions))
    await until('the retry has ended', async () => {
      const found = await findOperation(api.database.read, operation.id)
      return found?.state === 'succeeded'
    })
    expect(new Set(states)).toEqual(new Set(['in_progress']))
    expect(await updatesNow()).toMatchObject([{ state: 'kept', reason: null }])
  })

  test('judge by pictures, and keep those that differ', async () => {
    const shown = { after: '/9j/AA==', difference: '/9j/BB==' }
    seeAfter(({ widths }) => ({
      pictures: widths.map((width) => ({ width, different: width === 390 ? 2.5 : 0.1, shown })),
    }))
    const { operation, report } = await update()
    expect(operation.error).toContain('homepage: 2.5 % of the page looks different at a width of 390 px')
    const [wide, narrow] = report.pages[0].pictures
    expect([wide.is_different, wide.after_location, narrow.is_different]).toEqual([false, null, true])
    const found = await world.owner.call('GET', narrow.after_location)
    expect([found.status, found.headers['content-type']]).toEqual([200, 'image/jpeg'])
    expect((await world.mate.call('GET', narrow.after_location)).status).toBe(404)
  })

  test('take pictures at both widths of the homepage, and at one of the other pages, in one look', async () => {
    const asked: [string, readonly number[]][][] = []
    noteLooks(({ pages }) => asked.push(pages.map(({ url, widths }) => [new URL(url).pathname, widths])))
    await update()
    const once = [
      ['/', [1280, 390]],
      ['/about/', [1280]],
      ['/wp-login.php', [1280]],
    ]
    expect(asked).toEqual([once, once])
  })

  test('look again at the pages that differ, and only at these', async () => {
    const asked: [number[], number][] = []
    noteLooks(({ pages, ...more }) => {
      if ('looks' in more) asked.push([pages.map(({ page }) => page), more.looks as number])
    })
    seeAfter(({ page, widths }, { looks }) => ({
      pictures: widths.map((width) => ({ width, different: page === 1 && looks === 1 ? 5 : 0 })),
    }))
    expect((await update()).report.state).toBe('kept')
    expect(asked).toEqual([
      [[0, 1, 2], 1],
      [[1], 5],
    ])
  })

  test.each(['a page', 'a browser'])('are undone if a page differs, and %s fails at the second look', async (what) => {
    const { comparePicturesAfter } = world.host.services
    give({
      comparePicturesAfter: async (look: PagesToPictureAgain, onPage: (seen: object) => Promise<void>) => {
        if (look.looks > 1 && what === 'a browser') throw new MeasureFailed('It ended')
        await comparePicturesAfter(look, (seen) =>
          look.looks > 1
            ? onPage({ page: (seen as ComparedPictures).page, failed: 'It ended' })
            : onPage({ ...(seen as ComparedPictures), pictures: [{ width: 1280, different: 5 }] }),
        )
      },
    })
    const { report } = await update()
    expect([report.state, report.pictures_missing]).toEqual(['undone', 'It ended'])
    expect(report.pages.map(({ pictures }: { pictures: object[] }) => pictures.length)).toEqual([1, 1, 1])
  })

  test('judge the other pages if a browser could not open one', async () => {
    const { takePictures } = world.host.services
    give({
      takePictures: async (pages: PagesToPicture, onPage: (seen: object) => Promise<void>) =>
        takePictures(pages, (seen) => onPage(seen.page === 0 ? { page: 0, failed: 'It took too long' } : seen)),
    })
    seeAfter(({ widths }) => ({ pictures: widths.map((width) => ({ width, different: 5 })) }))
    const { report } = await update()
    expect([report.state, report.pictures_missing]).toEqual(['undone', 'It took too long'])
    expect(report.pages.map(({ pictures }: { pictures: object[] }) => pictures.length)).toEqual([0, 1, 1])
  })

  const settle = (body: object) => world.owner.call('PUT', `/v1/sites/${world.site}/safe-update-settings`, body)

  test('compare the pages of the settings, too, and hide the same elements before and after', async () => {
    const masks: (readonly string[])[] = []
    noteLooks((look) => masks.push(look.masks))
    await settle({ masks: ['.counter'], paths: ['/a/', '/b/'] })
    afterUpdate(async () => {
      await settle({ masks: ['.other'], paths: [] })
      return {}
    })
    const { report } = await update({ paths: ['/c/', '/b/'] })
    const own = report.pages.filter(({ kind }: { kind: string }) => kind === 'own')
    expect(own.map(({ path }: { path: string }) => path)).toEqual(['/c/', '/b/', '/a/'])
    expect(masks).toEqual(Array(2).fill(['.counter']))
  })

  test('compare at most 10 pages of the request and the settings', async () => {
    const many = Array.from({ length: 9 }, (_, index) => `/a${index}/`)
    await settle({ paths: many })
    // The settings have had more since the request.
    const { report } = await update({ paths: ['/b/', '/c/'] })
    const own = report.pages.filter(({ kind }: { kind: string }) => kind === 'own')
    expect(own.map(({ path }: { path: string }) => path)).toEqual(['/b/', '/c/', ...many.slice(0, 8)])
    stand.start(world, listPluginsJob)
    const start = (paths: string[]) =>
      world.owner.call('POST', `/v1/sites/${world.site}/safe-updates`, { plugins: [{ path: 'forms' }], paths })
    const refused = await start(['/b/', '/c/'])
    const fault = 'paths: must be at most 10, with the 9 of the settings of the site'
    expect([refused.status, refused.body.errors]).toEqual([400, [fault]])
    expect((await start(['/b/', '/a1/'])).status).toBe(200)
  })

  test('judge by new errors in the console', async () => {
    // The worker of the first update may take the second one.
    const errors = ['x is not defined at 7', 't.map is not a function']
    const { takePictures } = world.host.services
    give({
      takePictures: async (pages: PagesToPicture, onPage: (seen: TakenPictures) => Promise<void>) =>
        takePictures(pages, (seen) =>
          onPage({ ...(seen as TakenPictures), errors: ['x is not defined at 3', 'e.map is not a function'] }),
        ),
    })
    seeAfter(() => ({ errors }))
    expect((await update()).report.state).toBe('kept')
    errors.push('y is not a function')
    const second = await update({ plugins: [order('forms', '3.0')] })
    expect(second.report.reason).toContain('a new error in the browser’s console: y is not a function')
  })

  test('say why there are no pictures, and count the rest', async () => {
    const takePictures = async () => {
      throw new MeasureImpossible('no browser here')
    }
    give({ takePictures })
    expect((await update()).report).toMatchObject({ state: 'kept', pictures_missing: 'no browser here' })
  })

  test('roll back alone what breaks the site at once', async () => {
    const { operation, report } = await update({ plugins: [order('forms', '6.6.6'), order('mail')] })
    expect([operation.state, report.state]).toEqual(['succeeded', 'kept'])
    expect(await versions()).toEqual(['1.0', '2.0'])
    expect(report.items.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['failed', 'updated'])
  })

  test('leave plugins as they are that the owner switches meanwhile', async () => {
    await put('plugins', 'other')
    const { activePlugins } = world.host.wordpress(world.site)
    activePlugins.delete('mail/mail.php')
    afterUpdate(() => {
      world.host.wordpress(world.site).activePlugins.delete('other/other.php')
      return { status: 500 }
    })
    expect((await update()).report.state).toBe('undone')
    expect([...world.host.wordpress(world.site).activePlugins]).toEqual(['forms/forms.php'])
  })

  test('update themes, and refuse those that are not installed', async () => {
    await put('themes', 'paper')
    const { operation } = await update({ plugins: [], themes: [order('paper')] })
    expect([operation.state, await versionOf('themes/paper/paper.php')]).toEqual(['succeeded', '2.0'])
  })

  test('of all plugins take those with an update, and say what they leave out', async () => {
    const plugin = (name: string, update: 'available' | 'none') => ({
      ...{ name, file: `${name}/${name}.php`, title: name, description: '', status: 'active' as const, version: '1.0' },
      ...{ update, updateVersion: update === 'none' ? null : '5.3' },
    })
    const plugins = [plugin('forms', 'available'), plugin('no-premium', 'available'), plugin('mail', 'none')]
    const theme = {
      name: 'paper',
      title: 'Paper',
      version: '1.0',
      isActive: true,
      updateVersion: '1.1',
      isAutomatic: false,
    }
    answer(world, 'list-plugins', () => ({ plugins, themes: [theme] }))
    stand.start(world, listPluginsJob)
    const { status, headers } = await world.owner.call('POST', `/v1/sites/${world.site}/safe-updates`, { all: true })
    expect(status).toBe(200)
    const found = await api.database.read
      .selectFrom('operations')
      .select('input')
      .where('id', '=', Number(headers['operation-id']))
      .executeTakeFirstOrThrow()
    expect(JSON.parse(found.input)).toMatchObject({
      plugins: [{ path: 'forms', version: '5.3' }],
      themes: [{ path: 'paper', version: '5.3' }],
      skipped: ['no-premium: the directory of WordPress does not list it'],
    })
  })

  const undone = async () => {
    const found = await undoneVersions(api.database.read, world.site)
    return found.map(({ kind, slug, version }) => `${kind} ${slug} ${version}`)
  }

  test('record which versions were undone, until they are kept', async () => {
    await put('themes', 'paper')
    let status = 500
    afterUpdate((path) => (path === '/about/' ? { status } : {}))
    await update({ themes: [order('paper')] })
    expect(await undone()).toEqual(['plugin forms 2.0', 'plugin mail 2.0', 'theme paper 2.0'])
    status = 200
    await update({ plugins: [order('forms')] })
    expect(await undone()).toEqual(['plugin mail 2.0', 'theme paper 2.0'])
  })

  test('record which versions broke the site at once', async () => {
    await update({ plugins: [order('forms', '6.6.6'), order('mail')] })
    expect(await undone()).toEqual(['plugin forms 6.6.6'])
    await update({ plugins: [order('mail', '6.6.6')] })
    expect(await undone()).toEqual(['plugin forms 6.6.6', 'plugin mail 6.6.6'])
  })

  test('record no version if they fail before they touch the site', async () => {
    const { pool } = world.host.services
    const handle = async (...given: Parameters<typeof pool.handle>) => {
      await loseRights(world)
      return pool.handle(...given)
    }
    give({ pool: { ...pool, handle } })
    expect((await update()).operation.state).toBe('failed')
    expect([await versions(), await undone()]).toEqual([['1.0', '1.0'], []])
  })

  const alerts = async () => {
    const rows = await api.database.read.selectFrom('alerts').selectAll().orderBy('id').execute()
    return rows.map(({ kind, subject, detail, ended_at: at }) => [kind, subject, detail, at === null])
  }
  const reason = 'The update was undone: newest page: status 200 became 500'

  test('open one alert when they are undone, which the next success ends', async () => {
    let status = 500
    afterUpdate((path) => (path === '/about/' ? { status } : {}))
    await update()
    const several = ['update_undone', 'several plugins and themes', `forms, mail: ${reason}`]
    expect(await alerts()).toEqual([[...several, true]])
    await update({ plugins: [order('forms')] })
    const forms = ['update_undone', 'forms', reason]
    expect(await alerts()).toEqual([
      [...several, true],
      [...forms, true],
    ])
    status = 200
    await update()
    expect(await alerts()).toEqual([
      [...several, false],
      [...forms, false],
    ])
  })

  test('open an alert for a part that is rolled back alone', async () => {
    await update({ plugins: [order('forms', '6.6.6'), order('mail')] })
    expect(await alerts()).toMatchObject([['update_undone', 'forms', expect.any(String), true]])
    await update({ plugins: [order('forms')] })
    expect((await alerts()).map(([, , , isOpen]) => isOpen)).toEqual([false])
  })

  test('are one mail, although they are undone on several sites', async () => {
    for (let n = 0; n < 3; n++) {
      const undone = { ...emptyOrder, siteId: await api.site(world.owner, `more-${n}`), plugins: [order('forms')] }
      await api.database.transaction((tx) => raiseUndone(tx, undone, reason, 1000))
    }
    await tellAt(api, 2000)
    await tellAt(api, 60_000)
    const mails = (await alertMails(api)).filter(({ to }) => to === world.owner.email)
    expect(mails).toMatchObject([{ subject: 'The update of forms on more-0 was undone (and 2 more)' }])
  })

  describe('of WordPress', () => {
    const core = { version: '6.9', channel: 'stable' }
    beforeEach(() => writeFile(join(web, '../index.php'), 'of 6.8'))
    const running = async () => {
      const { body } = await world.owner.call('GET', `/v1/sites/${world.site}`)
      const { path, coreVersion } = (await directoryOf(world)) as SiteDirectory
      return [coreVersion, await readFile(join(path, 'web/index.php'), 'utf8'), body.data.state]
    }
    /** Comes while the pages are compared: an order of a visitor. */
    const comesOrder = () =>
      afterUpdate(async () => {
        const { path } = (await directoryOf(world)) as SiteDirectory
        const opened = new DatabaseSync(join(path, 'private/database/site.sqlite'))
        opened.exec("update wp_options set option_value = 'ordered' where option_name = 'blogname'")
        opened.close()
        return { status: 500 }
      })
    const title = async () => world.host.title(((await directoryOf(world)) as SiteDirectory).path)

    test('are offered if a source has a newer release that the site can have', async () => {
      const offered = async () => {
        const { body } = await world.owner.call('GET', `/v1/sites/${world.site}/wordpress-update`)
        return body.data
      }
      const none = { installed: '6.8', version: null, obstacle: null }
      expect(await offered()).toEqual(none)
      await withReleases(api, '6.7', '6.8')
      expect(await offered()).toEqual(none)
      await withReleases(api, '6.8', '6.9', '7.0-beta1')
      expect(await offered()).toEqual({ ...none, version: '6.9' })
      await api.database.transaction((tx) => replaceReleases(tx, [madeOffer('6.9', '99.0')], 1))
      expect(await offered()).toMatchObject({ version: null, obstacle: expect.stringContaining('99.0') })
      await api.database.transaction((tx) =>
        tx.updateTable('sites').set({ core_version: null }).where('id', '=', world.site).execute(),
      )
      expect(await offered()).toEqual({ ...none, installed: null })
    })

    test('are kept with plugins, and stand in the report', async () => {
      const { operation, report } = await update({ core })
      expect([operation.state, operation.error, await versions()]).toEqual(['succeeded', null, ['2.0', '2.0']])
      expect(await running()).toEqual(['6.9', '<?php // of 6.9', 'live'])
      expect(report.items.map(({ kind, from, to }: Record<string, string>) => [kind, from, to]).at(-1)).toEqual([
        'core',
        '6.8',
        '6.9',
      ])
      expect(await besideSite(world)).toEqual([])
      expect((await events())[0]?.[1]).toMatchObject({ plugins: ['forms', 'mail'], core: '6.9' })
    })

    test('leave what visitors write when they are undone, if the tables are those of the earlier release', async () => {
      answer(world, 'upgrade-database', () => ({ upgraded: false }))
      comesOrder()
      const { report } = await update({ core })
      expect([report.state, await running(), await versions()]).toEqual([
        'undone',
        ['6.8', 'of 6.8', 'live'],
        ['1.0', '1.0'],
      ])
      expect([await title(), await besideSite(world)]).toEqual(['ordered', []])
      expect(report.reason).not.toContain('lost')
    })

    test('restore the database when they are undone, if WordPress has upgraded it, and say what is lost', async () => {
      comesOrder()
      const { report } = await update({ core })
      expect([report.state, await running(), await title()]).toEqual(['undone', ['6.8', 'of 6.8', 'live'], 'old'])
      const { path } = (await directoryOf(world)) as SiteDirectory
      expect([world.host.option(path, 'db_version'), await besideSite(world)]).toEqual(['old', []])
      expect(report.reason).toContain('so later content is lost')
      // No automatic update installs it either.
      const failed = await api.database.read.selectFrom('failed_updates').selectAll().execute()
      expect(failed).toMatchObject([{ site_id: world.site, version: '6.9', again_at: null }])
    })

    test('leave nothing of the newer release in caches when they are undone', async () => {
      const wordpress = world.host.wordpress(world.site)
      const purged = async () => {
        const rows = api.database.read.selectFrom('cache_purges').select('seq').where('site_id', '=', world.site)
        return Math.max(...(await rows.execute()).map(({ seq }) => Number(seq)))
      }
      const { pool } = world.host.services
      let open: number[] | undefined
      const handle = async (...given: Parameters<typeof pool.handle>) => {
        const response = await pool.handle(...given)
        if ((await running())[0] === '6.8') return response
        open ??= [wordpress.flushes, await purged()]
        return { ...response, status: 500 }
      }
      give({ pool: { ...pool, handle } })
      expect((await update({ plugins: [], core })).report.state).toBe('undone')
      const [flushedBefore, purgedBefore] = open as number[]
      expect(wordpress.flushes).toBeGreaterThan(flushedBefore as number)
      expect(await purged()).toBeGreaterThan(purgedBefore as number)
    })

    test('are undone with all others if the homepage does not respond at once', async () => {
      const sound = { status: 200, bytes: 1, databaseErrors: [] }
      answer(world, 'front-page', () =>
        readFileSync(join(web, '../index.php'), 'utf8').includes('6.9') ? refuse() : sound,
      )
      const { report } = await update({ core })
      expect([report.state, await running(), await versions()]).toEqual([
        'failed',
        ['6.8', 'of 6.8', 'live'],
        ['1.0', '1.0'],
      ])
      expect(report.reason).not.toContain('lost')
    })

    test('need no plugin, and do nothing if the site has the release', async () => {
      const has = await update({ plugins: [], core: { version: '6.8', channel: 'stable' } })
      expect([has.report.state, has.report.items, await running()]).toEqual(['kept', [], ['6.8', 'of 6.8', 'live']])
      const alone = await update({ plugins: [], core })
      expect([alone.report.state, await running()]).toEqual(['kept', ['6.9', '<?php // of 6.9', 'live']])
    })
  })

  test('are kept in a limited number', async () => {
    const { read } = api.database
    await api.database.transaction(async (tx) => {
      for (let id = 1; id <= MOST_REPORTS + 3; id++) await beginReport(tx, 1000 + id, world.site, 1)
    })
    expect(await countUpdates(read, world.site)).toBe(MOST_REPORTS)
    expect(await findUpdate(read, world.site, 1003)).toBeUndefined()
    expect(await findUpdate(read, world.site, 1004)).toMatchObject({ id: 1004 })
  })
})
