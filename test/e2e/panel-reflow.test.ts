/** WCAG 1.4.10 and 1.4.4: at 320 px, which is a zoom of 400 %, and at a zoom of 200 % no page scrolls sideways or loses content. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedIn } from '../../src/resources/backups/backups.fixture.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import { storePlugins } from '../../src/resources/plugins/plugin.store.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

/** 1280 × 720 px at 200 %, and a desk at 400 %. */
const views = [
  { width: 640, height: 360 },
  { width: 320, height: 512 },
] as const

/** The dialogs of the panel: the page, and what opens them, one after the other. `ID` is the site, `ZONE` its zone. */
const dialogs: readonly (readonly [path: string, ...open: readonly (string | RegExp)[]])[] = [
  ['sites', 'New site'],
  ['sites', 'Import a site'],
  ['sites', 'Search'],
  ['sites', 'Select all 2', 'Update WordPress'],
  ['sites?kind=live', 'Views', 'Save view'],
  ['sites/ID/overview', 'Add tag'],
  ['sites/ID/overview', 'More actions', 'Reset admin password'],
  ['sites/ID/overview', 'More actions', 'Move to another host'],
  ['sites/ID/backups', /^Restore .*20/],
  ['sites/ID/backups', /^More actions for .*20/, 'Delete backup'],
  ['sites/ID/copies', 'Clone site'],
  ['sites/ID/copies', 'Sync with another site'],
  ['sites/ID/copies', /^Push /],
  ['sites/ID/plugins', 'Install plugin'],
  ['sites/ID/plugins', 'More actions for forms', 'Install another version'],
  ['sites/ID/collaborators', /^Change role of /],
  ['sites/ID/collaborators', /^Remove a-helper/],
  ['sites/ID/sftp', /^Manage keys of /],
  ['sites/ID/sftp', /^Reset password of /, 'Reset password'],
  ['sites/ID/notes', 'Add note'],
  ['sites/ID/notes', /^Edit /],
  ['sites/ID/settings', 'Delete site'],
  ['zones/ZONE', 'Add record'],
  ['zones/ZONE', 'Export zone file'],
  ['zones/ZONE', 'Import zone file'],
  ['account/you', 'Set up authenticator app'],
  ['account/you', 'Create API credential'],
  ['account/you', 'Add passkey'],
  ['account/collaborators', 'Invite person'],
  ['account/collaborators', /^Permissions on new sites/],
  ['account/webhooks', 'Create webhook'],
  ['account/mu-plugins', 'Add must-use plugin'],
  ['platform?tab=accounts', /^More actions for a-helper/, 'Remove account…'],
  ['platform?tab=accounts', /^Suspend account: a-helper/],
]

const LONG = 'a-shop-with-a-name-as-long-as-names-of-sites-are-allowed-to-be'

describe.skipIf(!hasChromium)('large text', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let paths: string[]
  let named: (path: string) => string
  let host: Awaited<ReturnType<typeof idleHost>>
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    owner = await api.person('owner-with-a-long-address@department.example.com')
    const site = await api.site(owner, LONG)
    const clone = await api.site(owner, `${LONG.slice(0, -1)}2`)
    host = await idleHost(api)
    await api.database.transaction(async (tx) => {
      await tx.updateTable('sites').set({ staging: 1, cloned_from_id: site }).where('id', '=', clone).execute()
      const plugin = { title: '', description: '', version: '1.0', update: 'available', updateVersion: '2.0' } as const
      const forms = { ...plugin, name: 'forms', file: 'forms/forms.php', status: 'active' } as const
      const far = { name: LONG, address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
      await tx.insertInto('hosts').values(far).execute()
      await storePlugins(tx, site, { plugins: [forms], themes: [] }, Date.now())
    })
    const zone = await zoneIn(api, { accountId: owner.accountId, siteId: site, name: `${LONG}.test` })
    await storedIn(api, site)
    await owner.call('POST', `/v1/sites/${site}/notes`, { subject: LONG, body: `Anna\n\n    ${LONG} ${LONG}` })
    await owner.call('POST', `/v1/sites/${site}/tags`, { tag_names: ['client: Anna', 'a-tag-that-is-long'] })
    await api.collaborate(await api.person('a-helper-with-a-long-address@department.example.com'), site, ['wp_access'])
    page = await panel.open(owner, 'sites')
    named = (path) => path.replace('ID', String(site)).replace('ZONE', String(zone.zone))
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
    await host?.stop(1000)
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  /**
   * What is beyond an edge of the window, or cut off without a way to scroll to it. Texts that end in … have a tooltip.
   */
  const lost = (where = 'main *, .top *') =>
    page.evaluate((where) => {
      const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      const words = (element: Element) => element.textContent?.trim().slice(0, 40)
      const found: string[] = []
      const isWide = document.documentElement.scrollWidth > innerWidth
      if (isWide) found.push('the page scrolls sideways')
      for (const element of document.querySelectorAll<HTMLElement>(where)) {
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
    }, where)

  /**
   * Controls of a page that are too small for a finger, in pixels. A target may be larger than its control: a finger at
   * its upper and lower end must reach it.
   */
  const narrow = () =>
    page.evaluate(() => {
      const controls = 'main, .top, .bottom-bar'
      const targets = 'button, a.button, input, select, textarea, summary, a[aria-current]'
      const all = [...document.querySelectorAll<HTMLElement>(`:is(${controls}) :is(${targets})`)]
      return all.flatMap((element) => {
        // a slider over a chart, and controls of which another one is a part
        if (!element.checkVisibility({ opacityProperty: true }) || element.matches('.hidden, .hidden *')) return []
        element.scrollIntoView({ block: 'center' })
        const target = element.matches('[type=checkbox], [type=radio]')
          ? (element.closest('label') ?? element)
          : element
        const { top, bottom, left, right, height } = target.getBoundingClientRect()
        const [x, y] = [(left + right) / 2, (top + bottom) / 2]
        const reaches = (at: number) => target.contains(document.elementFromPoint(x, at))
        if (height > 43.5 || (reaches(y - 21) && reaches(y + 21))) return []
        const words = (element.ariaLabel ?? element.textContent ?? '').trim().slice(0, 40)
        return [`${Math.round(height)} px: ${element.localName}.${element.className} ${words}`]
      })
    })

  test.each(views)('fits at $width px', async (view) => {
    await page.setViewportSize(view)
    const faults: string[] = []
    for (const path of paths) {
      await page.goto(`${panel.url}/#/${path}`)
      await panel.settled(page)
      faults.push(...[...(await lost()), ...(await narrow())].map((fault) => `${path}: ${fault}`))
    }
    expect(paths.length).toBeGreaterThan(20)
    expect(faults).toEqual([])
  })

  /** What is too small for a finger, in pixels. Lines of text are as high as they are. */
  const small = () =>
    page.evaluate(() => {
      const targets = 'button, a.button, input, select, textarea, summary, [role=option]'
      return [...document.querySelectorAll<HTMLElement>(`dialog[open] :is(${targets})`)].flatMap((element) => {
        const target = element.matches('[type=checkbox], [type=radio]') ? element.closest('label') : element
        const height = Math.round(target?.getBoundingClientRect().height ?? 0)
        const words = element.ariaLabel ?? element.textContent ?? ''
        return height < 44 && element.checkVisibility() ? [`${height} px: ${element.localName} ${words.trim()}`] : []
      })
    })

  /** What has the focus in the dialog, and what should: the first field, else the button that changes nothing. */
  const focus = () =>
    page.evaluate(() => {
      const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
      const shown = (what: string) =>
        [...(dialog?.querySelectorAll<HTMLInputElement>(what) ?? [])].filter(
          (element) => element.checkVisibility() && !element.disabled,
        )
      const [field, ...others] = shown('input, select, textarea')
      const chosen = field?.type === 'radio' && others.find(({ name, checked }) => name === field.name && checked)
      const cancel = shown('button').find(({ textContent }) => textContent === 'Cancel')
      const words = (element: Element | null | undefined) =>
        element && `${element.localName} ${element.ariaLabel ?? (element.textContent || element.id)}`
      const has = document.activeElement
      return { has: words(has), wanted: words(chosen || field || cancel || shown('button')[1] || dialog) }
    })

  describe.each(views)('at $width px', (view) => {
    test.each(dialogs.map((steps) => ({ what: steps.join(', '), steps })))(
      'fits the dialog of $what',
      async ({ steps }) => {
        const [path, ...open] = steps
        await page.setViewportSize(view)
        await page.goto(`${panel.url}/#/${named(path)}`)
        await page.reload()
        await panel.settled(page)
        for (const name of open) {
          const exact = typeof name === 'string' && { exact: true }
          const button = page.getByRole('button', { name, ...exact })
          const item = page.getByRole('menuitem', { name, ...exact })
          await button.or(item).first().click()
        }
        await page.getByRole('dialog').first().waitFor()
        await panel.settled(page)
        expect(await lost('dialog[open], dialog[open] *')).toEqual([])
        expect(await small()).toEqual([])
        const { has, wanted } = await focus()
        expect(has).toBe(wanted)
        const box = await page.getByRole('dialog').boundingBox()
        expect(Math.round(box?.y ?? -1)).toBeGreaterThanOrEqual(0)
        expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBeLessThanOrEqual(view.height)
      },
    )
  })

  test('leaves a third of the window to the page, above and below which bars stay', async () => {
    await page.setViewportSize(views[0])
    await page.goto(`${panel.url}/#/sites`)
    await panel.settled(page)
    const heightOf = async (bar: string) => (await page.locator(bar).boundingBox())?.height ?? 0
    expect((await heightOf('.top')) + (await heightOf('.bottom-bar'))).toBeLessThan((views[0].height * 2) / 3)
  })
})
