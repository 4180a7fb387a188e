/**
 * The life of a site apart from visits: disabled and enabled, moved, deleted, and restored, and requests that cannot be
 * met.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { freePort, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

describeSites('the life of a site', ({ env, testOnce }) => {
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    id = await stead.createSite({ name: 'lively' })
  })
  afterAll(() => stead?.remove())

  test('answers 480 on every path while disabled, resets passwords, and answers again when enabled', async () => {
    expect((await stead.api('PUT', `/v1/sites/${id}/disable`)).body.data.state).toBe('disabled')
    await until('it is off', async () => (await stead.visit('lively')).status === 480)
    for (const path of ['/', '/wp-login.php', '/wp-includes/css/buttons.css', '/no-such-page', '/.env'])
      expect([path, (await stead.visit('lively', path)).status]).toEqual([path, 480])
    expect(
      (await stead.api('POST', '/v1/sites/search', { filters: [{ key: 'state', value: 'disabled' }] })).body.data,
    ).toMatchObject([{ id, name: 'lively' }])
    expect((await stead.api('GET', '/v1/sites')).body.data).toMatchObject([{ id, state: 'disabled' }])
    expect((await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).status).toBe(200)
    expect((await stead.api('PUT', `/v1/sites/${id}/enable`)).body.data.state).toBe('live')
    await until('it answers', async () => (await stead.visit('lively')).status === 200)
  })

  testOnce('writes multisite support into wp-config.php when it is requested at creation', async () => {
    await stead.createSite({ name: 'manysites', multisite_support: true })
    const config = (name: string) => readFile(join(stead.directoryOf(name), 'web/wp-config.php'), 'utf8')
    expect(await config('manysites')).toMatch(/define\('WP_ALLOW_MULTISITE', true\);/)
    expect(await config('lively')).not.toContain('MULTISITE')
    expect((await stead.visit('manysites')).text).toContain('<title>manysites</title>')
  })

  testOnce(
    'fails to create a shop without the plugin directory, gives the reason, and can be retried or deleted',
    async () => {
      const { status, headers, body } = await stead.api('POST', '/v1/sites', { name: 'a-shop', install: 'woocommerce' })
      expect([status, body.data.ecommerce]).toEqual([201, true])
      const operation = headers.get('operation-id') as string
      expect(await stead.ended(operation)).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('WooCommerce cannot be installed: '),
      })
      expect((await stead.api('GET', `/v1/sites/${body.data.id}`)).body.data.state).toBe('deploying')
      expect((await stead.visit('a-shop')).status).not.toBe(200)
      expect((await stead.api('POST', `/v1/operations/${operation}/retry`)).status).toBe(200)
      expect((await stead.ended(operation)).state).toBe('failed')
      expect((await stead.api('DELETE', `/v1/sites/${body.data.id}`)).status).toBe(200)
      expect((await stead.visit('a-shop')).status).toBe(404)
    },
  )

  test('restores a deleted site from the trash, even if another site had its name meanwhile', async () => {
    await writeFile(join(stead.directoryOf('lively'), 'web/mine.txt'), 'the first')
    const deletion = await stead.api('DELETE', `/v1/sites/${id}`)
    const removal = deletion.headers.get('operation-id') as string
    expect((await stead.ended(removal)).state).toBe('succeeded')
    expect((await stead.api('GET', `/v1/sites/${id}`)).status).toBe(404)

    const other = await stead.createSite({ name: 'lively' })
    expect((await stead.visit('lively', '/mine.txt')).status).toBe(404)
    const taken = await stead.cli('site', 'restore', '--name', 'lively')
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringMatching(/taken/i)])
    await stead.api('DELETE', `/v1/sites/${other}`)
    // the younger site leaves the trash permanently, so that the name means the older one
    expect(await restore('lively')).toMatchObject({ id: other })
    await stead.api('DELETE', `/v1/sites/${other}`)
    await purge(other)
    expect(await restore('lively')).toMatchObject({ id, name: 'lively', state: 'live' })
    await until('the restored site answers', async () => (await stead.visit('lively')).status === 200)
    expect((await stead.visit('lively', '/mine.txt')).text).toBe('the first')
    expect((await stead.cli('site', 'restore', '--name', 'lively')).code).toBe(2)

    // its deletion cannot be retried now
    expect((await stead.api('POST', `/v1/operations/${removal}/retry`)).status).toBe(400)
    const { data } = (await stead.api('GET', `/v1/operations?site_id=${id}&type=site.purge`)).body
    for (const { id: purging } of data) {
      expect((await stead.api('POST', `/v1/operations/${purging}/retry`)).status).toBe(200)
      expect(await stead.ended(purging)).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('not deleted'),
      })
    }
    expect(data.length).toBeGreaterThan(0)
    expect((await stead.visit('lively', '/mine.txt')).text).toBe('the first')
  })

  test('moves sites and their links to another staging domain and port at the next start', async () => {
    const browser = new Browser((path, options) => stead.visit('lively', path, options))
    const { data: password } = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body
    await browser.logIn('admin', password)
    const old = `http://lively.localhost:${stead.edgePort}`
    const post = await browser.open('/wp-json/wp/v2/posts', {
      method: 'POST',
      body: JSON.stringify({ title: 'Links', content: `<a href="${old}/x">x</a>`, status: 'publish' }),
      headers: { 'x-wp-nonce': await browser.restNonce(), 'content-type': 'application/json' },
    })
    expect(post.status).toBe(201)
    await stead.stop()
    stead.set({ STEAD_STAGING_DOMAIN: 'sites.example.test' })
    stead.edgePort = await freePort()
    await stead.start()
    const address = `lively.sites.example.test:${stead.edgePort}`
    await until('the site has its new address', async () => (await stead.visit('lively')).status === 200)
    await until('its links follow', async () => (await stead.visit('lively')).text.includes(`http://${address}/`))
    expect((await stead.api('GET', `/v1/sites/${id}`)).body.data.url).toBe(address)
    const front = await stead.visit('lively')
    expect(front.text).not.toContain('localhost')
    expect(front.text).toContain(`<a href="http://${address}/x">`)
    expect((await stead.visit('lively.localhost')).status).toBe(404)
    // a site in the trash gets its new address when it is restored
    expect((await stead.api('DELETE', `/v1/sites/${id}`)).status).toBe(200)
    await stead.stop()
    stead.set({ STEAD_STAGING_DOMAIN: 'localhost' })
    await stead.start()
    expect((await stead.visit('lively')).status).toBe(404)
    await restore('lively')
    await until('the restored site has its new address', async () => (await stead.visit('lively')).status === 200)
    expect((await stead.visit('lively')).text).toContain(`http://lively.localhost:${stead.edgePort}/`)
  })

  /** Restores as an operator would, who waits while the deletion still runs. */
  async function restore(name: string): Promise<object> {
    return until(`${name} is back from the trash`, async () => {
      const { code, stdout, stderr } = await stead.cli('site', 'restore', '--name', name, '--json')
      if (code !== 0 && !stderr.includes('try again')) throw new Error(stderr)
      return code === 0 && JSON.parse(stdout)
    })
  }

  /** Ends the time in the trash now. */
  async function purge(siteId: number): Promise<void> {
    const { DatabaseSync } = await import('node:sqlite')
    await until('the purge is planned', () => {
      const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { timeout: 10_000 })
      const due = "update operations set run_at = 0 where site_id = ? and type = 'site.purge' and state = 'queued'"
      const { changes } = database.prepare(due).run(siteId)
      database.close()
      return changes > 0
    })
    await until('the purge is over', async () => {
      const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { readOnly: true })
      const row = database.prepare('select id from site_homes where site_id = ?').get(siteId)
      database.close()
      return !row
    })
  }
})
