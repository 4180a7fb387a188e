/** A link that logs in once, as people use it: with real browsers and a real site. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasChromium, openChromium } from '../support/chromium.ts'
import { describeSites } from '../support/describe-sites.ts'
import { type Stead, showOutputOfFailures, startStead } from '../support/stead.ts'

describeSites(
  'a link that logs in once',
  ({ env }) => {
    let stead: Stead
    let browser: Browser
    let userAgent: string
    let id: number
    let email: string
    showOutputOfFailures(() => stead)
    beforeAll(async () => {
      stead = await startStead({ env: { ...env, STEAD_EDGE_PROCESSES: '2' } })
      email = (await stead.api('GET', '/v1/account')).body.data.email
      id = await stead.createSite({ name: 'linked' })
      browser = await openChromium()
      const page = await browser.newPage()
      userAgent = await page.evaluate(() => navigator.userAgent)
      await page.close()
    })
    afterAll(async () => {
      await browser?.close()
      await stead?.remove()
    })

    const link = async (agent = userAgent): Promise<string> => {
      const body = { email, user_agent: agent }
      const answer = await stead.api('POST', `/v1/sites/${id}/one_time_login`, body)
      expect([answer.status, answer.body.errors]).toEqual([200, null])
      return answer.body.data.url
    }

    test('shows the dashboard in that browser; later visitors get the log-in page and the reason', async () => {
      const url = await link()
      const own = await browser.newContext()
      const page = await own.newPage()
      await page.goto(url)
      await page.waitForSelector('#wpadminbar')
      expect(new URL(page.url()).pathname).toBe('/wp-admin/')
      expect(await page.textContent('#wp-admin-bar-my-account')).toContain('admin')
      // the session is an ordinary one: it lasts, and WordPress knows where it began
      await page.goto(new URL('/wp-admin/profile.php', url).href)
      expect(await page.textContent('#profile-page')).toContain('admin')

      const other = await browser.newContext()
      const thief = await other.newPage()
      await thief.goto(url)
      await thief.waitForSelector('#user_login')
      expect(await thief.textContent('#login')).toContain('was already used')
      await thief.goto(new URL('/wp-admin/', url).href)
      await thief.waitForSelector('#user_login')
    })

    test('fails in another browser, and then also in the right one', async () => {
      const url = await link('Another/1.0')
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(url)
      expect(await page.textContent('#login')).toContain('for another browser')
      expect((await context.cookies()).filter(({ name }) => name.startsWith('wordpress_logged_in'))).toEqual([])
      const right = await browser.newContext({ userAgent: 'Another/1.0' })
      const late = await right.newPage()
      await late.goto(url)
      expect(await late.textContent('#login')).toContain('was already used')
    })

    test('survives a HEAD request, and forbids caching', async () => {
      const { pathname, search } = new URL(await link())
      const head = await stead.visit('linked', pathname + search, {
        method: 'HEAD',
        headers: { 'user-agent': userAgent },
      })
      expect(head.headers['set-cookie']?.some((each) => each.startsWith('wordpress_logged_in'))).toBeFalsy()
      const used = await stead.visit('linked', pathname + search, { headers: { 'user-agent': userAgent } })
      expect([used.status, used.headers.location, used.headers['cache-control']]).toEqual([
        302,
        '/wp-admin/',
        'no-store, private',
      ])
      expect(used.headers['set-cookie']?.some((each) => each.startsWith('wordpress_logged_in'))).toBe(true)
    })
  },
  { skip: !hasChromium },
)
