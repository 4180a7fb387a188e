/** The main task with the real program: a site is created, used, survives a restart, and is gone after its deletion. */
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()
/** The smallest possible picture: one transparent pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

describe.skipIf(!core)('the main task', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_TRASH_DAYS: '0' } })
  })
  afterAll(() => stead?.remove())

  const browserOf = (name: string) => new Browser((path, options) => stead.visit(name, path, options))

  describe.each(['8.1', '8.2', '8.3'])('on PHP %s', (phpVersion) => {
    const name = `main-${phpVersion.replace('.', '')}`
    let id: number
    let password: string
    let browser: Browser
    let media: { source_url: string }

    test('responds 201, goes live, and shows the title on the front page', async () => {
      const order = { name, php_version: phpVersion, wp_admin_username: 'Chief_1', wp_admin_email: 'chief@example.com' }
      const { status, headers, body } = await stead.api('POST', '/v1/sites', order)
      expect([status, body.data.state, body.data.phpVersion]).toEqual([201, 'deploying', phpVersion])
      id = body.data.id
      expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
      const { data } = (await stead.api('GET', `/v1/sites/${id}`)).body
      expect(data).toMatchObject({ state: 'live', url: `${name}.localhost:${stead.edgePort}`, name })
      const front = await stead.visit(name)
      expect(front.status).toBe(200)
      expect(front.text).toContain(`<title>${name}</title>`)
    })

    test('accepts the given administrator and the reset password in wp-admin', async () => {
      const reset = await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)
      expect(reset.status).toBe(200)
      password = reset.body.data
      expect((await browserOf(name).logIn('Chief_1', 'not the password')).text).toContain('login_error')
      browser = browserOf(name)
      const dashboard = await browser.logIn('Chief_1', password)
      expect(dashboard.status).toBe(200)
      expect(dashboard.text).toContain('id="wpadminbar"')
      expect((await browser.open('/wp-admin/profile.php')).text).toContain('chief@example.com')
    })

    test('publishes a post and a picture, and shows them', async () => {
      const nonce = await browser.restNonce()
      const uploaded = await browser.open('/wp-json/wp/v2/media', {
        method: 'POST',
        body: pixel,
        headers: {
          'x-wp-nonce': nonce,
          'content-type': 'image/gif',
          'content-disposition': 'attachment; filename="pixel.gif"',
        },
      })
      expect(uploaded.status).toBe(201)
      media = JSON.parse(uploaded.text)
      const published = await browser.open('/wp-json/wp/v2/posts', {
        method: 'POST',
        body: JSON.stringify({
          title: 'Grüße aus dem Test',
          content: `<img src="${media.source_url}" alt="pixel">`,
          status: 'publish',
        }),
        headers: { 'x-wp-nonce': nonce, 'content-type': 'application/json' },
      })
      expect(published.status).toBe(201)
      const front = await stead.visit(name)
      expect(front.text).toContain('Grüße aus dem Test')
      expect(front.text).toContain(media.source_url)
    })
  })

  test('keeps all posts and pictures over a restart of everything', async () => {
    await stead.restart()
    for (const name of ['main-81', 'main-82', 'main-83']) {
      const front = await stead.visit(name)
      expect(front.text).toContain('Grüße aus dem Test')
      const url = /http:\/\/[^"]+\/pixel\.gif/.exec(front.text)?.[0] as string
      const picture = await stead.visit(name, new URL(url).pathname)
      expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/gif'])
    }
  })

  test('applies a changed PHP version to the running site, and an environment type to WordPress', async () => {
    const { data } = (await stead.api('POST', '/v1/sites/search', { filters: [{ key: 'name', value: 'main-81' }] }))
      .body
    const { id } = data[0]
    const directory = stead.directoryOf('main-81')
    await writeFile(
      join(directory, 'web/facts.php'),
      '<?php require "wp-load.php"; header("Cache-Control: no-store"); echo PHP_VERSION, " ", wp_get_environment_type();',
    )
    expect((await stead.visit('main-81', '/facts.php')).text).toMatch(/^8\.1\.\d+ production$/)
    const changed = await stead.api('PUT', `/v1/sites/${id}`, {
      php_version: '8.3',
      wp_environment_type: 'development',
    })
    expect(changed.body.data).toMatchObject({ phpVersion: '8.3', wpEnvironmentType: 'development' })
    await stead.ended(changed.headers.get('operation-id') as string)
    expect((await stead.visit('main-81', '/facts.php')).text).toMatch(/^8\.3\.\d+ development$/)
    expect((await stead.visit('main-81')).text).toContain('Grüße aus dem Test')
    // tests set STEAD_PHP_NICE. Without it PHP yields to everything else
    const [php] = stead.phpProcesses()
    expect(getPriority(php?.pid)).toBe(getPriority())
  })

  test('responds 404 at once after a deletion, with nothing left in the data folder, and no process', async () => {
    await stead.visit('main-83')
    const siteDirectories = new Map<string, string>()
    for (const name of ['main-81', 'main-82', 'main-83']) siteDirectories.set(name, stead.directoryOf(name))
    const { data } = (await stead.api('GET', '/v1/sites')).body
    for (const { id, name } of data) {
      const { status, headers } = await stead.api('DELETE', `/v1/sites/${id}`)
      expect(status).toBe(200)
      await until('visitors get 404', async () => (await stead.visit(name)).status === 404)
      expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
      const directory = siteDirectories.get(name) as string
      await until(`${directory} is gone`, () => !existsSync(directory) && !existsSync(`${directory}.removing`))
    }
    expect(stead.phpProcesses()).toEqual([])
    const left = (await readdir(stead.dataDir, { recursive: true })).filter((path) => /main-8|pixel/.test(path))
    expect(left).toEqual([])
    await until('every home belongs to no site', async () => (await readdir(join(stead.dataDir, 'sites'))).length <= 4)
  })
})
