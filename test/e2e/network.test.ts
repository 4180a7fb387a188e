/** Turns a real WordPress into a network and back, as its owner would. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

describeSites('multisite support', ({ env, testOnce }) => {
  let stead: Stead
  let id: number
  let browser: Browser
  let password: string
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env })
    id = await stead.createSite({ name: 'network' })
    browser = new Browser((path, options) => stead.visit('network', path, options))
    password = (await stead.api('PUT', `/v1/sites/${id}/cms/password-reset`)).body.data
    expect((await browser.logIn('admin', password)).text).toContain('wpadminbar')
  })
  afterAll(() => stead?.remove())

  const config = () => readFile(join(stead.directoryOf('network'), 'web/wp-config.php'), 'utf8')
  const assetsOf = (html: string): string[] =>
    [
      ...html.matchAll(
        /(?:href|src)=["'](?:http:\/\/network\.localhost:\d+)?(\/[^"']+\.(?:css|js|php)(?:\?[^"']*)?)["']/g,
      ),
    ].map(([, path]) => (path as string).replaceAll('&#038;', '&').replaceAll('&amp;', '&'))

  test('turns a site into a network, and keeps its links', async () => {
    const before = (await stead.visit('network', '/sample-page/')).status
    const { headers, body } = await stead.api('PUT', `/v1/sites/${id}/multisite-support`)
    expect(body.data.multisiteSupport).toBe(true)
    expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    const text = await config()
    for (const line of [
      "'WP_ALLOW_MULTISITE', true",
      "'MULTISITE', true",
      "'SUBDOMAIN_INSTALL', false",
      "'COOKIE_DOMAIN', ''",
    ])
      expect(text).toContain(`define(${line});`)
    expect(text).toContain(`define('DOMAIN_CURRENT_SITE', 'network.localhost:${stead.edgePort}');`)
    expect((await stead.visit('network', '/sample-page/')).status).toBe(before)
    expect((await stead.visit('network', '/hello-world/')).status).toBe(200)
    // cookies of a network have other names than those of a single site
    expect((await browser.logIn('admin', password)).text).toContain('wpadminbar')
    expect((await browser.open('/wp-admin/network/')).text).toContain('Network Admin')
  })

  test("serves a second site that was created in the network dashboard, with its own pages and its dashboard's files", async () => {
    const form = (await browser.open('/wp-admin/network/site-new.php')).text
    const nonce = /name="_wpnonce_add-blog" value="([^"]+)"/.exec(form)?.[1] as string
    const body = new URLSearchParams({
      'blog[domain]': 'second',
      'blog[title]': 'The second site',
      'blog[email]': 'second@example.com',
      '_wpnonce_add-blog': nonce,
    })
    const made = await browser.open('/wp-admin/network/site-new.php?action=add-site', { method: 'POST', body })
    expect(made.text).toContain('Site added')
    const front = await stead.visit('network', '/second/')
    expect(front.status).toBe(200)
    expect(front.text).toContain('<title>The second site</title>')
    const post = /href="http:\/\/network\.localhost:\d+(\/second\/[^"]*hello-world\/)"/.exec(front.text)?.[1] as string
    expect((await stead.visit('network', post)).status).toBe(200)
    expect((await stead.visit('network', '/')).text).toContain('<title>network</title>')
    const admin = await browser.open('/second/wp-admin/')
    expect(admin.text).toContain('The second site')
    const assets = [...new Set([...assetsOf(admin.text), ...assetsOf(front.text)])].filter((path) =>
      /\.css|\.js|load-/.test(path),
    )
    expect(assets.some((path) => path.startsWith('/second/wp-'))).toBe(true)
    for (const path of assets) expect([path, (await browser.open(path)).status]).toEqual([path, 200])
    expect((await stead.visit('network', '/second/wp-login.php')).text).toContain('user_login')
    expect((await stead.visit('network', '/second/wp-json/')).text).toContain('The second site')
  })

  testOnce('moves the network to a changed address', async () => {
    const port = stead.edgePort
    stead.set({ STEAD_STAGING_DOMAIN: 'moved.localhost' })
    await stead.restart()
    const host = 'network.moved.localhost'
    await until('it has moved', async () => (await stead.visit(host)).status === 200)
    await until('it is written', async () => (await config()).includes(`'DOMAIN_CURRENT_SITE', '${host}:${port}'`))
    expect((await stead.visit(host, '/second/')).text).toContain('<title>The second site</title>')
    expect((await stead.visit(host)).text).toContain('<title>network</title>')
  })

  testOnce(
    'turns the network off: no constant remains, it is a single site again, and keeps the data of the network',
    async () => {
      const visit = (path = '/') => stead.visit('network.moved.localhost', path)
      const off = await stead.api('PUT', `/v1/sites/${id}/multisite-support`)
      expect(await stead.ended(off.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
      expect(await config()).not.toMatch(/MULTISITE|SUBDOMAIN_INSTALL|CURRENT_SITE|COOKIE_DOMAIN/)
      expect((await visit()).text).toContain('<title>network</title>')
      expect((await visit('/second/')).text).not.toContain('The second site')
      const on = await stead.api('PUT', `/v1/sites/${id}/multisite-support`)
      expect(await stead.ended(on.headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
      expect((await visit('/second/')).text).toContain('<title>The second site</title>')
    },
  )

  testOnce('sets the network up for a site that is created with multisite support', async () => {
    await stead.createSite({ name: 'born-many', multisite_support: true })
    const file = join(stead.directoryOf('born-many'), 'web/wp-config.php')
    await until('its network is made', async () => (await readFile(file, 'utf8')).includes("'MULTISITE', true"))
    const page = await stead.visit('born-many.moved.localhost')
    expect([page.status, page.text.includes('<title>born-many</title>')]).toEqual([200, true])
  })

  testOnce(
    'answers 404 for missing files without PHP; maintenance mode has its operation, and the dashboard works',
    async () => {
      const visit = (path = '/') => stead.visit('network.moved.localhost', path)
      await writeFile(join(stead.directoryOf('network'), 'web/there.png'), 'a picture')
      expect((await visit('/none.png')).text).toContain('<html')
      await stead.api('PUT', `/v1/sites/${id}/light_weight_404`, { enabled: true })
      await until('it is light', async () => (await visit('/none2.png')).text === '404 Not Found\n')
      expect((await visit('/none2.png')).status).toBe(404)
      expect((await visit('/there.png')).status).toBe(200)
      expect((await visit('/none')).text).toContain('<html')
      const { headers } = await stead.api('PUT', `/v1/sites/${id}/maintenance-mode`)
      expect(await stead.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
      const page = await until('visitors are kept out', async () => {
        const answer = await visit()
        return answer.status === 503 && answer
      })
      expect(page.text).toContain('under maintenance')
      expect((await visit('/wp-login.php')).text).toContain('user_login')
      expect((await visit('/wp-admin/css/common.css')).status).toBe(200)
    },
  )
})
