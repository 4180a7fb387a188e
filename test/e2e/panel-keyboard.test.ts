/** A main task without a mouse, and what screen readers announce in less common forms. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeNow } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('without a mouse', () => {
  let panel: PanelOverRecords
  let owner: Person
  let page: Page
  let site: number
  beforeAll(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    site = await panel.api.site(owner, 'my-shop')
    await panel.api.collaborate(await panel.api.person('anna@example.com'), site, ['wp_access'])
    page = await panel.open(owner, 'sites')
  })
  afterAll(async () => {
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  /** The focused element, as a screen reader announces it. */
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: at } = document
      if (!(at instanceof HTMLElement)) return ''
      const labels = at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement ? at.labels : null
      return (at.ariaLabel ?? labels?.[0]?.textContent ?? at.textContent ?? '').trim()
    })
  /** Presses Tab until the element of this name has the focus. */
  async function tabTo(name: string): Promise<void> {
    const passed: string[] = []
    for (let step = 0; step < 80; step++) {
      await page.keyboard.press('Tab')
      const at = await focused()
      if (at === name) return
      passed.push(at)
    }
    throw new Error(`${name} is not reached. Passed: ${passed.join(', ')}`)
  }

  test('goes from the list of sites to a note, which is created, changed, and deleted', async () => {
    await page.getByRole('link', { name: 'my-shop', exact: true }).waitFor()
    await tabTo('Skip to content')
    await page.keyboard.press('Enter')
    await tabTo('my-shop')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'my-shop' }).waitFor()
    // the next page begins at its content, after the navigation
    await page.keyboard.press('Shift+Tab')
    await tabTo('Notes')
    await page.keyboard.press('Enter')
    await page.getByText('No notes yet').waitFor()
    await tabTo('Add note')
    await page.keyboard.press('Enter')
    await tabTo('Subject')
    await page.keyboard.type('Whom to call')
    await tabTo('Note')
    await page.keyboard.type('Anna')
    await tabTo('Save note')
    await page.keyboard.press('Space')
    await page.getByRole('heading', { name: 'Whom to call' }).waitFor()
    await tabTo('Edit Whom to call')
    await page.keyboard.press('Enter')
    await tabTo('Note')
    await page.keyboard.press('End')
    await page.keyboard.type(', before ten')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    // the focus is where it was
    await expect.poll(focused).toBe('Edit Whom to call')
    await tabTo('Delete Whom to call')
    await page.keyboard.press('Enter')
    await tabTo('Delete note')
    await page.keyboard.press('Enter')
    await page.getByText('No notes yet').waitFor()
  })

  test('opens a dialog before anything else can be pressed', async () => {
    await page.goto(page.url().replace(/#.*/, `#/sites/${site}/notes`))
    await page.getByText('No notes yet').waitFor()
    const isOpen = await page.evaluate(async () => {
      const buttons = [...document.querySelectorAll<HTMLButtonElement>('main button')]
      buttons.find(({ textContent }) => textContent === 'Add note')?.click()
      // no key press and no frame of the page comes in between
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
      return document.querySelector('dialog')?.open
    })
    expect(isOpen).toBe(true)
  })

  describe('forms of the account', () => {
    const button = (name: string | RegExp) =>
      page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })
    /** Opens a dialog, and checks it. */
    async function judged(name: string | RegExp): Promise<void> {
      await button(name).first().click()
      await page.getByRole('dialog').waitFor()
      await panel.judge(page)
    }
    async function close(): Promise<void> {
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }

    test('labels an application and its credentials', async () => {
      await page.goto(`${panel.url}/#/account`)
      await judged('Create API credential')
      await page.getByLabel('Name', { exact: true }).fill('Bot')
      await button('Create credential').click()
      await page.getByRole('dialog', { name: 'New API credential' }).waitFor()
      await panel.judge(page)
      expect(await page.getByRole('dialog').locator('code').count()).toBe(2)
      await close()
    })

    test('labels an authenticator app and its recovery codes', async () => {
      await judged('Set up authenticator app')
      const secret = await page.getByRole('dialog').locator('code').textContent()
      await page.getByLabel('Code from the app').fill(codeNow(Date.now(), secret ?? ''))
      await button('Turn on authenticator app').click()
      await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
      await panel.judge(page)
      await close()
      await button('Turn off authenticator app').waitFor()
    })

    test('labels a passkey and its name', async () => {
      await judged('Add passkey')
      await close()
    })

    test('labels collaborators on new sites and on all sites', async () => {
      await page.goto(`${panel.url}/#/account/collaborators`)
      await judged('Permissions on new sites: anna@example.com')
      await close()
      await judged('Remove person: anna@example.com')
      await close()
    })

    test('labels a webhook, its secret, a new secret, and its deletion', async () => {
      const { body } = await owner.call('POST', '/v1/webhooks', {
        url: 'https://hooks.example.com/in',
        description: '',
        event_types: null,
      })
      await page.goto(`${panel.url}/#/account/webhooks/${body.data.id}`)
      await judged('Replace secret')
      await page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click()
      await page.getByText('Copy it now').waitFor()
      await panel.judge(page)
      await close()
      await judged('Delete webhook')
      await close()
    })
  })
})
