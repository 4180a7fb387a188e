/**
 * Compares screenshots of the panel's pages, from this build and from the commit before: where they differ, a person
 * should look. Lists the pages, and keeps the screenshots in the folder TEST_PICTURES. Fails only if a page cannot be
 * drawn. TEST_PICTURES_SINCE names another commit.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedIn } from '../../src/resources/backups/backups.fixture.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import type { Person } from '../support/api.ts'
import { changedFiles, changesSince } from '../support/changes.ts'
import { hasChromium } from '../support/chromium.ts'
import { type BuiltPanel, panelBefore } from '../support/panel-before.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const views = [
  { name: 'desk', width: 1440, height: 900, colorScheme: 'dark' },
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
] as const
type View = (typeof views)[number]

/** A share of the pixels. Smaller differences come from font smoothing. */
const SAME = 0.0005

const { TEST_PICTURES, TEST_PICTURES_SINCE } = process.env
const isChanged = TEST_PICTURES_SINCE !== undefined || changedFiles().some((file) => file.startsWith('src/panel/'))

describe.skipIf(!hasChromium || !isChanged)('screenshots of the panel', () => {
  let panel: PanelOverRecords
  let owner: Person
  let paths: string[]
  let before: BuiltPanel
  beforeAll(async () => {
    before = await panelBefore(TEST_PICTURES_SINCE ?? changesSince())
    panel = await panelOverRecords()
    const { api } = panel
    owner = await api.person('owner@example.com')
    const site = await api.site(owner, 'my-shop')
    await api.site(owner, 'my-blog')
    const zone = await zoneIn(api, { accountId: owner.accountId, siteId: site, name: 'my-shop.test' })
    await storedIn(api, site)
    await owner.call('POST', `/v1/sites/${site}/notes`, { subject: 'Whom to call', body: 'Anna' })
    const page = await open(views[0])
    paths = [
      `zones/${zone.zone}`,
      ...(await linksOf(page, 'sites')),
      ...(await linksOf(page, `sites/${site}/overview`)),
    ]
    await page.context().close()
  })
  afterAll(async () => {
    before?.[Symbol.dispose]()
    await panel?.close()
  })

  /** @param folder of a built panel that replaces this one */
  async function open(view: View, folder?: string): Promise<Page> {
    const context = await panel.visitor(owner)
    const page = await context.newPage()
    // no animations, and the same time in both screenshots
    await page.clock.setFixedTime(new Date())
    await page.setViewportSize(view)
    await page.emulateMedia({ colorScheme: view.colorScheme, reducedMotion: 'reduce' })
    if (folder)
      await page.route(/^[^?#]*\/(assets\/[^/?]+|index\.html)?$/, (route) => {
        const { pathname } = new URL(route.request().url())
        return route.fulfill({ path: join(folder, pathname === '/' ? 'index.html' : pathname) })
      })
    return page
  }

  /** Pages that the side navigation links to. */
  async function linksOf(page: Page, path: string): Promise<string[]> {
    await page.goto(`${panel.url}/#/${path}`)
    await panel.settled(page)
    const links = page.locator('aside nav a')
    return links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).hash.slice(2)))
  }

  async function picture(page: Page, path: string): Promise<PNG> {
    await page.goto(`${panel.url}/#/${path}`)
    await panel.settled(page)
    return PNG.sync.read(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
  }

  test.each(views)('cover each page, compared with the commit before: $name', async (view) => {
    const [now, then] = [await open(view), await open(view, before.folder)]
    const folder = TEST_PICTURES ?? mkdtempSync(join(tmpdir(), 'stead-pictures-'))
    mkdirSync(folder, { recursive: true })
    const changed: string[] = []
    for (const path of paths) {
      const [after, earlier] = [await picture(now, path), await picture(then, path)]
      const { width, height } = after
      const marked = new PNG({ width, height })
      const share = pixelmatch(earlier.data, after.data, marked.data, width, height) / (width * height)
      if (share <= SAME) continue
      const name = `${path.replaceAll('/', '-')}-${view.name}`
      changed.push(`${name}: ${(100 * share).toFixed(1)} %`)
      for (const [what, image] of Object.entries({ before: earlier, after, marked }))
        writeFileSync(join(folder, `${name}-${what}.png`), PNG.sync.write(image))
    }
    if (changed.length > 0)
      console.log(`Pages that look different (${view.name}), in ${folder}:\n  ${changed.join('\n  ')}`)
    // a page without text failed to render
    expect(paths.length).toBeGreaterThan(20)
    expect(panel.faults).toEqual([])
    for (const page of [now, then]) await page.context().close()
  })
})
