/** WCAG 1.4.10 and 1.4.4: at 320 px, which is a zoom of 400 %, and at a zoom of 200 % no page scrolls sideways or loses content. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedIn } from '../../src/resources/backups/samples.fixture.ts'
import { zoneIn } from '../../src/resources/dns/samples.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

/** 1280 × 720 px at 200 %, and a desk at 400 %. */
const views = [
  { width: 640, height: 360 },
  { width: 320, height: 512 },
] as const

const LONG = 'a-shop-with-a-name-as-long-as-names-of-sites-are-allowed-to-be'

describe.skipIf(!hasChromium)('large text', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let paths: string[]
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    owner = await api.person('owner-with-a-long-address@department.example.com')
    const site = await api.site(owner, LONG)
    const zone = await zoneIn(api, { accountId: owner.accountId, siteId: site, name: `${LONG}.test` })
    await storedIn(api, site)
    await owner.call('POST', `/v1/sites/${site}/notes`, { subject: LONG, body: `Anna\n\n    ${LONG} ${LONG}` })
    await owner.call('POST', `/v1/sites/${site}/tags`, { tag_names: ['client: Anna', 'a-tag-that-is-long'] })
    await api.collaborate(await api.person('a-helper-with-a-long-address@department.example.com'), site, ['wp_access'])
    page = await panel.open(owner, 'sites')
    paths = [`zones/${zone.zone}`]
    for (const path of ['sites', `sites/${site}/overview`]) {
      await page.goto(`${panel.url}/#/${path}`)
      await panel.settled(page)
      const links = page.locator('aside nav a')
      paths.push(...(await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash.slice(2)))))
    }
    paths.push(...['accounts', 'hosts', 'processes'].map((tab) => `platform?tab=${tab}`), `sites/${site}/logs?tab=php`)
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  /** What is beyond an edge of the window, or cut off without a way to scroll to it. Texts that end in … have a tooltip. */
  const lost = () =>
    page.evaluate(() => {
      const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      const words = (element: Element) => element.textContent?.trim().slice(0, 40)
      const found: string[] = []
      const isWide = document.documentElement.scrollWidth > innerWidth
      if (isWide) found.push('the page scrolls sideways')
      for (const element of document.querySelectorAll<HTMLElement>('main *, .top *')) {
        if (isWide && element.getBoundingClientRect().right > innerWidth)
          found.push(`beyond the edge: ${element.className} ${words(element)}`)
        const { overflowX, textOverflow, clipPath } = getComputedStyle(element)
        if (!isShown(element) || element.closest('svg, pre') || clipPath !== 'none') continue
        const isScrolled = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
        if (isScrolled && overflowX === 'hidden' && textOverflow !== 'ellipsis')
          found.push(`cut off: ${element.className} ${words(element)}`)
        if (isScrolled && ['auto', 'scroll'].includes(overflowX) && !element.matches('[role=tablist], .segment'))
          found.push(`scrolls sideways: ${element.className} ${words(element)}`)
      }
      return found
    })

  test.each(views)('fits at $width px', async (view) => {
    await page.setViewportSize(view)
    const faults: string[] = []
    for (const path of paths) {
      await page.goto(`${panel.url}/#/${path}`)
      await panel.settled(page)
      faults.push(...(await lost()).map((fault) => `${path}: ${fault}`))
    }
    expect(paths.length).toBeGreaterThan(20)
    expect(faults).toEqual([])
  })

  test('leaves a third of the window to the page, above and below which bars stay', async () => {
    await page.setViewportSize(views[0])
    await page.goto(`${panel.url}/#/sites`)
    await panel.settled(page)
    const heightOf = async (bar: string) => (await page.locator(bar).boundingBox())?.height ?? 0
    expect((await heightOf('.top')) + (await heightOf('.bottom-bar'))).toBeLessThan((views[0].height * 2) / 3)
  })
})
