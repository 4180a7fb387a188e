/**
 * Main tasks as a person does them who does not see the page: with the keyboard alone, by the names and roles in the
 * browser's accessibility tree, and by what live regions announce.
 */
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupIn } from '../../src/resources/backups/backups.fixture.ts'
import { PASSWORD, withPassword } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

declare global {
  interface Window {
    /** Announcements of live regions since the page was opened. */
    announced: string[]
  }
}

/** Runs in each page: keeps the announcements of a screen reader. A modal dialog silences the page beneath. */
function keepAnnouncements(): void {
  window.announced = []
  const regions = '[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]'
  new MutationObserver((changes) => {
    const modals = [...document.querySelectorAll('dialog:modal')]
    for (const { target, addedNodes } of changes) {
      const place = target instanceof Element ? target : target.parentElement
      const region = place?.closest(regions)
      const isSilent = modals.some((modal) => !modal.contains(place))
      if (!region || isSilent || place?.closest('[aria-hidden=true]')) continue
      const added = [...addedNodes].map((node) => node.textContent)
      const text = (added.length > 0 ? added.join(' ') : (target.textContent ?? '')).replace(/\s+/g, ' ').trim()
      if (text) window.announced.push(text)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })
}

describe.skipIf(!hasChromium)('with a screen reader', () => {
  let panel: PanelOverRecords
  let host: Awaited<ReturnType<typeof idleHost>>
  let owner: Person
  let page: Page
  let tree: CDPSession
  let site: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    await withPassword(panel.api, owner.accountId)
    site = await panel.api.site(owner, 'my-shop')
    await backupIn(panel.api, site)
    const database = { takenAt: '2026-01-31T09:30:00.000Z', counts: [], newest: [] }
    host = await idleHost(panel.api, { 'site.preview_restore': { report: { siteId: site, files: null, database } } })
    const context = await panel.visitor(undefined, { permissions: ['clipboard-read', 'clipboard-write'] })
    await context.addInitScript(keepAnnouncements)
    page = await context.newPage()
    tree = await context.newCDPSession(page)
    await page.goto(panel.url)
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  /** The focused element as the accessibility tree has it. */
  async function focused(): Promise<{ role: string; name: string; description: string }> {
    const { result } = await tree.send('Runtime.evaluate', { expression: 'document.activeElement' })
    const { nodes } = await tree.send('Accessibility.getPartialAXTree', {
      ...(result.objectId && { objectId: result.objectId }),
      fetchRelatives: false,
    })
    const [node] = nodes
    const textOf = (value: { value?: unknown } | undefined) => String(value?.value ?? '')
    return { role: textOf(node?.role), name: textOf(node?.name), description: textOf(node?.description) }
  }
  /** Presses Tab until the element of this role and name has the focus. */
  async function tabTo(role: string, name: string | RegExp): Promise<void> {
    const passed: string[] = []
    for (let step = 0; step < 60; step++) {
      const at = await focused()
      if (at.role === role && (typeof name === 'string' ? at.name === name : name.test(at.name))) return
      passed.push(`${at.role} ${at.name}`)
      await page.keyboard.press('Tab')
    }
    throw new Error(`${role} ${name} is not reached. Passed: ${passed.join(', ')}`)
  }
  const press = (key: string) => page.keyboard.press(key)
  const type = (text: string) => page.keyboard.type(text)
  /** Waits until a text is announced after the one that was heard before. */
  async function hears(text: string): Promise<void> {
    const hear = (text: string) => {
      const at = window.announced.findIndex((each) => each.includes(text))
      if (at === -1) return false
      const heard = window.announced[at] ?? ''
      window.announced.splice(0, at + 1, heard.slice(heard.indexOf(text) + text.length))
      return true
    }
    await expect.poll(() => page.evaluate(hear, text), { message: `announces ${text}` }).toBe(true)
  }
  const openPart = async (name: string) => {
    await tabTo('link', 'my-shop')
    await press('Enter')
    await page.getByRole('heading', { name: 'my-shop' }).waitFor()
    await page.locator('.side').getByRole('link', { name, exact: true }).focus()
    await press('Enter')
    await page.getByRole('heading', { level: 1, name }).waitFor()
    // the new page begins at its content
    await expect.poll(async () => (await focused()).role).toBe('main')
  }
  const toSites = async () => {
    await page.goto(`${panel.url}/#/sites`)
    await page.getByRole('link', { name: 'my-shop', exact: true }).waitFor()
    await page.locator('main').focus()
  }

  test('signs in', async () => {
    await page.getByLabel('Password').waitFor()
    await tabTo('textbox', 'E-mail address')
    await type(owner.email)
    await tabTo('textbox', 'Password')
    await type('not this one')
    await press('Enter')
    await hears('The e-mail address or the password is wrong.')
    // the field still has the focus
    expect(await focused()).toMatchObject({ role: 'textbox', name: 'Password' })
    await press('Control+A')
    await type(PASSWORD)
    await press('Enter')
    await expect.poll(async () => (await focused()).role).toBe('main')
    await expect.poll(() => page.title()).toBe('Sites · Stead')
  })

  test('creates a site', async () => {
    await toSites()
    await tabTo('button', 'New site')
    await press('Enter')
    await page.getByRole('dialog', { name: 'New site' }).waitFor()
    await tabTo('textbox', 'Name')
    expect((await focused()).description).toMatch(/^4 to 63 letters/)
    await type('new-shop')
    await press('Enter')
    await hears('Done')
    await page.getByRole('dialog', { name: 'new-shop is ready' }).waitFor()
    await tabTo('link', 'Open site')
    await tabTo('link', 'Manage site')
    await press('Escape')
    await expect.poll(async () => (await focused()).name).toBe('New site')
  })

  test('restores a backup', async () => {
    await toSites()
    await openPart('Backups')
    await tabTo('button', /^Restore .*20/)
    await press('Enter')
    await page.getByRole('dialog', { name: /^Restore/ }).waitFor()
    await hears('Nothing changed since this backup.')
    await tabTo('textbox', 'Type my-shop to confirm')
    await type('another')
    await press('Enter')
    await hears('The name does not match.')
    await press('Control+A')
    await type('my-shop')
    await press('Enter')
    await hears('Restore my-shop')
    await hears('Done')
  })

  test('adds a domain', async () => {
    await toSites()
    await openPart('Domains')
    await tabTo('textbox', 'Domain')
    await type('shop.example.com')
    await press('Enter')
    await hears('shop.example.com added')
    await tabTo('button', /^Copy name/)
    await press('Enter')
    await hears('Copied')
    await tabTo('button', 'Copy records')
    await press('Enter')
    await hears('Records copied')
  })

  test('invites a person', async () => {
    await toSites()
    await openPart('People')
    await tabTo('textbox', 'Email address')
    await type('anna@example.com')
    await tabTo('radio', /^Viewer/)
    await press('ArrowUp')
    await press('ArrowUp')
    expect(await focused()).toMatchObject({ role: 'radio', name: expect.stringMatching(/^Developer/) })
    await tabTo('button', 'Invite person')
    await press('Enter')
    await hears('anna@example.com')
    await tabTo('button', 'Remove anna@example.com')
  })

  test('hears what a question is about before the answer', async () => {
    await page.goto(`${panel.url}/#/sites/${site}/settings`)
    await page.getByRole('button', { name: 'Delete site', exact: true }).focus()
    await press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Delete my-shop' })
    await dialog.waitFor()
    const { result } = await tree.send('Runtime.evaluate', { expression: "document.querySelector('dialog[open]')" })
    const { nodes } = await tree.send('Accessibility.getPartialAXTree', {
      ...(result.objectId && { objectId: result.objectId }),
      fetchRelatives: false,
    })
    expect(nodes[0]?.description?.value).toMatch(/^Visitors can no longer reach it\./)
    await press('Escape')
  })
})
