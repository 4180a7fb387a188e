/** Safe updates of WordPress itself, from a release API with real archives. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MadeEntry } from '../support/archives.ts'
import { testCore } from '../support/core.ts'
import { describeSites } from '../support/describe-sites.ts'
import { packedRelease, type ReleaseApi, startReleaseApi } from '../support/release-api.ts'
import { siteRows } from '../support/site-rows.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

const MINUTES = 900_000
const core = await testCore()

describeSites('safe updates of WordPress', ({ env, isNative }) => {
  let releases: ReleaseApi
  let entries: MadeEntry[]
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    entries = await packedRelease(core as string)
    releases = await startReleaseApi()
    publish('6.91')
    const given = { STEAD_WORDPRESS_API: releases.base, STEAD_CORE_SOURCE: '', STEAD_CHROMIUM: '/none' }
    stead = await startStead({ env: { ...env, ...given } })
    id = await stead.createSite({ name: 'careful' })
  })
  afterAll(async () => {
    await stead?.remove()
    releases?.close()
  })

  /**
   * Publishes the core of the tests under another version number. Automatic updates install only releases of the same
   * branch, so each has a branch of its own.
   * @param more PHP that runs with it @param levels how much newer its tables are
   */
  function publish(version: string, more = '', levels = 0): void {
    const change = (text: string) =>
      text
        .replace(/\$wp_version = '[^']+'/, `$wp_version = '${version}'`)
        .replace(/\$wp_db_version = (\d+)/, (_, level) => `$wp_db_version = ${Number(level) + levels}`)
    const named = (entry: MadeEntry) => {
      if (entry.name === 'wordpress/readme.html') return { ...entry, content: `readme of ${version}` }
      if (entry.name !== 'wordpress/wp-includes/version.php') return entry
      return { ...entry, content: `${change(String(entry.content))}\n${more}` }
    }
    releases.publish(version, entries.map(named))
  }
  async function update(wanted = 'latest') {
    const { status, body, headers } = await stead.api('POST', `/v1/sites/${id}/safe-updates`, { core: wanted })
    expect([status, body.errors]).toEqual([200, null])
    const operationId = headers.get('operation-id') as string
    const { state, error } = await stead.ended(operationId, MINUTES)
    const report = (await stead.api('GET', `/v1/sites/${id}/safe-updates/${operationId}`)).body.data
    return { state, error, report }
  }
  const readme = () => readFile(join(stead.directoryOf('careful'), 'web/readme.html'), 'utf8')
  const runs = async () => (await stead.api('GET', `/v1/sites/${id}`)).body.data.cmsVersion
  const rows = (sql: string) => siteRows(stead, 'careful', sql)
  const level = async () => {
    const [row] = await rows("select option_value as level from wp_options where option_name = 'db_version'")
    return Number(row?.level)
  }
  const order = "select option_value as value from wp_options where option_name = 'an_order'"
  const stored = async () => (isNative ? await rows(order) : [])
  /** The log-in page breaks, and a visitor writes while the pages are compared. */
  const breaks = `$GLOBALS['wp_filter']['login_init'][10][] = ['accepted_args' => 0, 'function' => static function () {
    update_option('an_order', 'paid');
    wp_die('broken', '', 500);
  }];`

  test('keep a release that breaks no page', async () => {
    publish('6.92')
    const { state, error, report } = await update()
    expect([state, error, report.state]).toEqual(['succeeded', null, 'kept'])
    expect(report.items).toMatchObject([{ kind: 'core', from: '6.91', to: '6.92' }])
    expect([await runs(), await readme()]).toEqual(['Current Stable Release (6.92)', 'readme of 6.92'])
    expect(await stead.visit('careful')).toMatchObject({ status: 200 })
  })

  test('refuse an older release, and one that no source has', async () => {
    const start = async (wanted: string) =>
      (await stead.api('POST', `/v1/sites/${id}/safe-updates`, { core: wanted })).body.code
    expect([await start('6.77'), await start('latest')]).toEqual(['core_refused', 'nothing_to_update'])
  })

  test('undo a release that breaks a page, and keep what visitors wrote meanwhile', async () => {
    publish('6.93', breaks)
    const { state, report } = await update()
    expect([state, report.state]).toEqual(['failed', 'undone'])
    expect(report.reason).toContain('log-in page: status 200 became 500')
    expect(report.reason).not.toContain('lost')
    expect([await runs(), await readme()]).toEqual(['Current Stable Release (6.92)', 'readme of 6.92'])
    expect(await stead.visit('careful', '/wp-login.php')).toMatchObject({ status: 200 })
    if (isNative) expect(await stored()).toEqual([{ value: 'paid' }])
  })

  test('restore the database if the release has upgraded it, and say so', async () => {
    const before = await level()
    if (isNative) await rows("delete from wp_options where option_name = 'an_order'")
    publish('6.94', breaks, 1)
    const { state, report } = await update()
    expect([state, report.state]).toEqual(['failed', 'undone'])
    expect(report.reason).toContain('so later content is lost')
    expect([await runs(), await level()]).toEqual(['Current Stable Release (6.92)', before])
    expect(await stored()).toEqual([])
    expect(await stead.visit('careful', '/wp-login.php')).toMatchObject({ status: 200 })
  })

  test('keep a release that has upgraded the database', async () => {
    const before = await level()
    publish('6.95', '', 1)
    expect((await update('6.95')).report).toMatchObject({ state: 'kept', reason: null })
    expect([await runs(), await level()]).toEqual(['Current Stable Release (6.95)', before + 1])
  })
})
