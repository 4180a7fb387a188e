/** Installs other releases of WordPress on a real site, from a release API with real archives. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MadeEntry } from '../support/archives.ts'
import { testCore } from '../support/core.ts'
import { describeSites } from '../support/describe-sites.ts'
import { packedRelease, type ReleaseApi, startReleaseApi } from '../support/release-api.ts'
import { siteRows } from '../support/site-rows.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()

describeSites('the release of WordPress', ({ env, testOnce }) => {
  let releases: ReleaseApi
  let entries: MadeEntry[]
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    entries = await packedRelease(core as string)
    releases = await startReleaseApi()
    releases.publish('6.8.91', release('6.8.91'))
    stead = await startStead({ env: { ...env, STEAD_WORDPRESS_API: releases.base, STEAD_CORE_SOURCE: '' } })
    id = await stead.createSite({ name: 'moving' })
  })
  afterAll(async () => {
    await stead?.remove()
    releases?.close()
  })

  /** The version of the tables from some release on. Sites upgrade to it automatically, and cannot go back. */
  let level: number | undefined
  /** The core of the tests under another version number. @param more PHP that runs with it */
  function release(version: string, more = ''): MadeEntry[] {
    const change = (text: string) =>
      level === undefined ? text : text.replace(/\$wp_db_version = \d+/, `$wp_db_version = ${level}`)
    return entries.map((entry) => {
      if (entry.name === 'wordpress/wp-includes/version.php')
        return {
          ...entry,
          content: `${change(String(entry.content)).replace(/\$wp_version = '[^']+'/, `$wp_version = '${version}'`)}\n${more}`,
        }
      return entry.name === 'wordpress/readme.html' ? { ...entry, content: `readme of ${version}` } : entry
    })
  }
  const publish = (version: string, more?: string) => releases.publish(version, release(version, more))
  const update = async (body: object = { version: 'latest' }) => {
    const { status, body: answer, headers } = await stead.api('PUT', `/v1/sites/${id}/cms/version`, body)
    expect([status, answer.errors]).toEqual([200, null])
    const operation = headers.get('operation-id')
    return operation === null ? undefined : stead.ended(operation)
  }
  const site = async () => (await stead.api('GET', `/v1/sites/${id}`)).body.data
  const web = (name: string) => join(stead.directoryOf('moving'), 'web', name)
  /** The version that WordPress reports, past every cache. */
  const generator = async () =>
    /WordPress ([\d.]+(?:-\w+)?)"/.exec((await stead.visit('moving', `/?n=${Math.random()}`)).text)?.[1]

  test('does nothing when the site has the latest release', async () => {
    expect(await update()).toBeUndefined()
    expect((await site()).cmsVersion).toBe('Current Stable Release (6.8.91)')
  })

  test('updates to the latest release, and keeps what the owner added beside it', async () => {
    publish('6.8.92')
    await writeFile(web('google1234.html'), 'mine')
    expect(await update()).toMatchObject({ state: 'succeeded', error: null })
    expect((await site()).cmsVersion).toBe('Current Stable Release (6.8.92)')
    expect(await generator()).toBe('6.8.92')
    expect(await readFile(web('readme.html'), 'utf8')).toBe('readme of 6.8.92')
    expect(await readFile(web('google1234.html'), 'utf8')).toBe('mine')
  })

  test('rolls back a release that breaks the site, with PHP’s own message', async () => {
    publish('6.8.93', "if (defined('WP_USE_THEMES')) { no_such_function(); }")
    const operation = await update()
    expect(operation).toMatchObject({ state: 'failed', error: expect.stringContaining('no_such_function') })
    expect((await site()).cmsVersion).toBe('Current Stable Release (6.8.92)')
    expect(await until('it answers', () => generator())).toBe('6.8.92')
    expect(await readFile(web('readme.html'), 'utf8')).toBe('readme of 6.8.92')
    const title = "select option_value as title from wp_options where option_name = 'blogname'"
    expect(await siteRows(stead, 'moving', title)).toMatchObject([{ title: 'moving' }])
  })

  testOnce('switches to the beta release', async () => {
    releases.publish('6.8.93', release('6.8.93'))
    publish('6.9-beta1')
    expect(await update({})).toMatchObject({ state: 'succeeded' })
    expect((await site()).cmsVersion).toBe('Latest Release (Beta) (6.9-beta1)')
    expect(await generator()).toBe('6.9-beta1')
  })

  testOnce('updates a disabled site, which stays disabled', async () => {
    expect((await stead.api('PUT', `/v1/sites/${id}/disable`)).status).toBe(200)
    publish('6.8.94')
    expect(await update()).toMatchObject({ state: 'succeeded' })
    expect(await site()).toMatchObject({ state: 'disabled', cmsVersion: 'Current Stable Release (6.8.94)' })
    expect((await stead.visit('moving')).status).toBe(480)
    expect((await stead.api('PUT', `/v1/sites/${id}/enable`)).status).toBe(200)
    expect(await until('it answers', () => generator())).toBe('6.8.94')
  })

  testOnce('upgrades the databases of all blogs of a network', async () => {
    const network = await stead.createSite({ name: 'many' })
    const made = await stead.api('PUT', `/v1/sites/${network}/multisite-support`)
    expect(await stead.ended(made.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    const browser = new Browser((path, options) => stead.visit('many', path, options))
    await browser.logIn('admin', (await stead.api('PUT', `/v1/sites/${network}/cms/password-reset`)).body.data)
    const form = (await browser.open('/wp-admin/network/site-new.php')).text
    const body = new URLSearchParams({
      'blog[domain]': 'second',
      'blog[title]': 'The second site',
      'blog[email]': 'second@example.com',
      '_wpnonce_add-blog': /name="_wpnonce_add-blog" value="([^"]+)"/.exec(form)?.[1] as string,
    })
    const second = await browser.open('/wp-admin/network/site-new.php?action=add-site', { method: 'POST', body })
    expect(second.text).toContain('Site added')
    const levels = async () => {
      const of = (table: string) =>
        siteRows(stead, 'many', `select option_value as level from ${table} where option_name = 'db_version'`)
      return [await of('wp_options'), await of('wp_2_options')].map(([row]) => Number(row?.level))
    }
    const [before, ofSecond] = await levels()
    expect([before, ofSecond]).toEqual([before, before])
    const next = Number(before) + 1
    level = next
    releases.publish('6.8.95', release('6.8.95'))
    publish('6.8.94')
    const { headers } = await stead.api('PUT', `/v1/sites/${network}/cms/version`, { version: 'latest' })
    expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded', error: null })
    expect(await levels()).toEqual([next, next])
    expect((await stead.visit('many', '/second/')).text).toContain('<title>The second site</title>')
  })

  testOnce(
    'updates other sites of the branch automatically, once one of them has found the newer release',
    async () => {
      const idle = await stead.createSite({ name: 'left-alone' })
      const runs = async () => (await stead.api('GET', `/v1/sites/${idle}`)).body.data.cmsVersion
      const before = await runs()
      publish('6.8.96')
      expect(await update()).toMatchObject({ state: 'succeeded' })
      const stable = 'Current Stable Release (6.8.96)'
      expect(before).not.toBe(stable)
      // the release is recorded before the front page is checked
      const entry = await until(
        'it was updated',
        async () => {
          const { data } = (await stead.api('POST', `/v1/sites/${idle}/logs/activity`, {})).body
          // the site may have been updating to the release before. Then the next check finds this one, as it would a
          // day later
          const isIt = ({ name, message }: { name: string; message: string }) =>
            name === 'wordpress.version_updated' && message.includes('to 6.8.96')
          const found = data.find(isIt)
          if (!found) await update()
          return found
        },
        240_000,
      )
      const message = expect.stringMatching(/to 6\.8\.96 automatically, because it is a security release$/)
      expect(entry).toMatchObject({ source: 'systems', message })
      expect(await runs()).toBe(stable)
    },
  )
})
