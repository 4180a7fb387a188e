/** Opens a site's database as users do: with a real browser, a real site, and Debian's Adminer. */
import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasChromium, openChromium } from '../support/chromium.ts'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const adminer = process.env.TEST_ADMINER ?? '/usr/share/adminer/adminer.php'

describeSites(
  'the database of a site in a browser',
  ({ env }) => {
    let stead: Stead
    let browser: Browser
    let id: number
    showOutputOfFailures(() => stead)
    beforeAll(async () => {
      stead = await startStead({ env: { ...env, STEAD_ADMINER: adminer } })
      id = await stead.createSite({ name: 'tables' })
      browser = await openChromium()
    })
    afterAll(async () => {
      await browser?.close()
      await stead?.remove()
    })

    const link = async (): Promise<string> => {
      const { status, body } = await stead.api('GET', `/v1/sites/${id}/cms/dbadmin`)
      expect([status, body.errors]).toEqual([200, null])
      return body.data
    }

    test('shows the tables and changes a value; others get in neither by the link nor without one', async () => {
      const url = await link()
      const own = await browser.newContext()
      const page = await own.newPage()
      await page.goto(url)
      // stored by the edge and in WordPress' object cache
      expect((await stead.visit('tables')).text).toContain('<title>tables')
      expect(new URL(page.url()).search).not.toContain('token')
      expect(await page.textContent('body')).toContain('wp_options')
      const base = new URL('/stead-database/', url).href

      // WordPress shows this value (blogname)
      await page.goto(`${base}?sqlite=&username=&db=x&edit=wp_options&where[option_name]=blogname`)
      await page.fill('[name="fields[option_value]"]', 'Changed by hand')
      await page.click('input[type=submit][value=Save]')
      await page.waitForSelector('.message')
      await until('visitors see it', async () => (await stead.visit('tables')).text.includes('Changed by hand'))

      const other = await browser.newContext()
      const thief = await other.newPage()
      await thief.goto(url)
      expect(await thief.textContent('body')).toContain('This link was already used')
      await thief.goto(base)
      expect(await thief.textContent('body')).toContain('A link is required')
      // the cookies of the first browser do not work in another one
      const { cookies } = await own.storageState()
      const second = await browser.newContext({ userAgent: 'Another/1.0' })
      await second.addCookies(cookies)
      const stranger = await second.newPage()
      await stranger.goto(base)
      expect(await stranger.textContent('body')).toContain('A link is required')
      // the first browser can continue
      await page.goto(base)
      expect(await page.textContent('body')).toContain('wp_options')
      // Adminer's own warnings do not concern the site
      await page.goto(`${base}?select=wp_options`)
      expect(await page.textContent('body')).toContain('blogname')
      expect((await stead.api('GET', `/v1/sites/${id}/logs/php`)).body.data.logs).toEqual([])
    })

    test('refuses direct access to the file of Adminer', async () => {
      for (const path of ['/stead/adminer.php', '/stead/database-admin.php', '/adminer.php', '/stead-database/x.php'])
        expect([path, (await stead.visit('tables', path)).text.includes('wp_options')]).toEqual([path, false])
    })

    test('opens no other database, whatever the address names', async () => {
      const own = await browser.newContext()
      const page = await own.newPage()
      const url = await link()
      await page.goto(url)
      const base = new URL('/stead-database/', url).href
      for (const other of [
        '?sqlite=&username=&db=/private/other.sqlite',
        '?pgsql=localhost&username=x&db=y',
        '?server=h&username=x',
      ]) {
        await page.goto(base + other)
        expect(await page.textContent('body')).toContain('wp_options')
      }
    })
  },
  { skip: !hasChromium || !existsSync(adminer) },
)
