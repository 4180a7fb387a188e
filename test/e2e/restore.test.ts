/** A person breaks a site, restores a backup, and then restores what was there before that. With real WordPress. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { databaseConstants, siteRows } from '../support/site-rows.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

describeSites('restore', ({ env, testOnce }) => {
  let stead: Stead
  let id: number
  let browser: Browser
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    id = await stead.createSite({ name: 'precious' })
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    browser = new Browser((path, options) => stead.visit('precious', path, options))
    await browser.logIn('admin', password)
  })
  afterAll(() => stead?.remove())

  const publish = async (title: string) => {
    const post = await browser.open('/wp-json/wp/v2/posts', {
      method: 'POST',
      body: JSON.stringify({ title, content: 'x', status: 'publish' }),
      headers: { 'x-wp-nonce': await browser.restNonce(), 'content-type': 'application/json' },
    })
    expect(post.status).toBe(201)
  }
  const web = (file: string) => join(stead.directoryOf('precious'), 'web', file)
  const front = async () => (await stead.visit('precious')).text
  const database = async () => databaseConstants(await readFile(web('wp-config.php'), 'utf8'))
  const madeSince = () => siteRows(stead, 'precious', 'select word from wp_made_since').catch(() => 'no such table')
  const ordered = async (path: string, body?: object) => {
    const { status, headers, body: answer } = await stead.api('POST', path, body)
    expect([status, answer.errors]).toEqual([200, null])
    return headers.get('operation-id') as string
  }
  const backUp = async (type: 'fs' | 'db') => {
    const operation = await ordered(`/v1/sites/${id}/ondemand-backups`, { backup_type: type })
    expect(await stead.ended(operation, 120_000)).toMatchObject({ state: 'succeeded' })
    const { data } = (await stead.api('GET', `/v1/sites/${id}/backups/${type}`)).body
    return Number(data[0].id)
  }
  let backup: { filesystem_id: number; database_id: number }

  test('says what changed since a backup, and removes it; visitors see the restored site', async () => {
    await publish('Kept for ever')
    await writeFile(web('note.txt'), 'the first')
    backup = { filesystem_id: await backUp('fs'), database_id: await backUp('db') }
    // WordPress stores times in seconds, so a change in the second of the backup could look older than it.
    const second = Math.floor(Date.now() / 1000)
    await until('the second of the backup is over', async () => Math.floor(Date.now() / 1000) > second)
    await publish('Written in haste')
    await writeFile(web('note.txt'), 'the second')
    await writeFile(web('made-since.txt'), 'x')
    const table = "CREATE TABLE wp_made_since (word varchar(20)); INSERT INTO wp_made_since VALUES ('kept')"
    const code = table.split('; ').map((sql) => `$wpdb->query("${sql}");`)
    await writeFile(web('table.php'), `<?php require 'wp-load.php'; ${code.join(' ')} echo 'made';`)
    expect((await stead.visit('precious', '/table.php')).text).toBe('made')
    const constants = await database()
    await until('it shows', async () => (await front()).includes('Written in haste'))

    const look = await ordered(`/v1/sites/${id}/restores`, { ...backup, dry_run: true })
    expect(await stead.ended(look, 120_000)).toMatchObject({ state: 'succeeded' })
    const { data } = (await stead.api('GET', `/v1/sites/${id}/restores/${look}`)).body
    expect(data.files.written.first).toContain('note.txt')
    expect(data.files.removed.first).toContain('made-since.txt')
    expect(data.database.counts).toContainEqual({ table: 'wp_posts', kind: 'post', new: 1, changed: 0 })
    expect(data.database.newest).toContainEqual(expect.objectContaining({ kind: 'post', title: 'Written in haste' }))
    expect(await front()).toContain('Written in haste')

    const restore = await ordered(`/v1/sites/${id}/restores`, backup)
    expect(await stead.ended(restore, 120_000)).toMatchObject({ state: 'succeeded' })
    expect(await front()).toContain('Kept for ever')
    expect(await front()).not.toContain('Written in haste')
    expect((await stead.visit('precious', '/note.txt')).text).toBe('the first')
    expect(existsSync(web('made-since.txt'))).toBe(false)
    expect(await madeSince()).toBe('no such table')
    expect(await database()).toEqual(constants)

    const undo = await ordered(`/v1/operations/${restore}/undo`)
    expect(await stead.ended(undo, 120_000)).toMatchObject({ state: 'succeeded' })
    expect(await front()).toContain('Written in haste')
    expect((await stead.visit('precious', '/note.txt')).text).toBe('the second')
    expect((await stead.visit('precious', '/made-since.txt')).text).toBe('x')
    expect(await madeSince()).toEqual([{ word: 'kept' }])
    expect(await database()).toEqual(constants)
  })

  testOnce('restores onto another site, with that site’s address in all links', async () => {
    const copy = await stead.createSite({ name: 'its-copy' })
    const restore = await ordered(`/v1/sites/${id}/restores`, { ...backup, restore_on_site_id: copy })
    expect(await stead.ended(restore, 120_000)).toMatchObject({ state: 'succeeded' })
    const page = await stead.visit('its-copy')
    expect(page.text).toContain('Kept for ever')
    expect(page.text).not.toContain('precious.localhost')
    expect((await stead.visit('its-copy', '/note.txt')).text).toBe('the first')
  })

  testOnce('completes a restore and opens the site after the host is killed while it is closed', async () => {
    const operation = await ordered(`/v1/sites/${id}/restores`, backup)
    const isClosed = async () => (await stead.visit('precious', '/wp-login.php')).status === 503
    await until('it is closed', isClosed)
    stead.kill('host')
    expect(await stead.ended(operation, 180_000)).toMatchObject({ state: 'succeeded' })
    await until('it answers', async () => (await stead.visit('precious')).status === 200)
    expect(await front()).not.toContain('Written in haste')
    expect((await stead.visit('precious', '/note.txt')).text).toBe('the first')
    const undo = await ordered(`/v1/operations/${operation}/undo`)
    expect(await stead.ended(undo, 120_000)).toMatchObject({ state: 'succeeded' })
    expect(await front()).toContain('Written in haste')
  })
})
