/** Form drafts survive a reload of the page until they are submitted or discarded. Secrets are never stored. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PASSWORD, withPassword } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { signOut } from '../support/panel.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('form drafts', () => {
  let panel: PanelOverRecords
  let owner: Person
  let site: number
  beforeEach(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    site = await panel.api.site(owner, 'my-shop')
  })
  afterEach(() => panel?.close())

  const kept = (page: Page) => page.evaluate(() => JSON.stringify({ ...sessionStorage }))
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  test('restore the dialog with its text, boxes, and choices until it is submitted', async () => {
    const page = await panel.open(owner, `sites/${site}/collaborators`)
    await page.getByLabel('Email address').fill('anna@example.com')
    await page.getByLabel('Custom').check()
    await page.getByLabel('Manage domains').check()
    await page.reload()
    await page.getByLabel('Manage domains').waitFor()
    expect(await page.getByLabel('Email address').inputValue()).toBe('anna@example.com')
    expect(await page.getByLabel('Custom').isChecked()).toBe(true)
    expect(await page.getByLabel('Manage domains').isChecked()).toBe(true)
    expect(await page.getByLabel('Manage notes').isChecked()).toBe(false)
    await button(page, 'Invite person').click()
    await page
      .getByRole('row', { name: /anna@example.com/ })
      .getByText('Custom')
      .waitFor()
    const { data } = (await owner.call('GET', '/v1/collaborators')).body
    expect(data).toMatchObject([{ email: 'anna@example.com', roles: ['manage_dns'] }])
    expect(await kept(page)).toBe('{}')
    await page.reload()
    await page.getByLabel('Email address').waitFor()
    expect(await page.getByLabel('Email address').inputValue()).toBe('')
  })

  test('belong to one subject, and are discarded when the dialog is closed', async () => {
    for (const subject of ['First', 'Second'])
      await owner.call('POST', `/v1/sites/${site}/notes`, { subject, body: 'x' })
    const page = await panel.open(owner, `sites/${site}/notes`)
    const body = page.getByLabel('Note', { exact: true })
    await button(page, 'Edit First').click()
    await body.fill('half a sent')
    await page.reload()
    await button(page, 'Edit Second').click()
    expect(await body.inputValue()).toBe('x')
    await page.keyboard.press('Escape')
    await button(page, 'Edit First').click()
    expect(await body.inputValue()).toBe('half a sent')
    await page.keyboard.press('Escape')
    await button(page, 'Edit First').click()
    expect(await body.inputValue()).toBe('x')
  })

  test('restore a choice whose options load later', async () => {
    const page = await panel.open(owner, 'sites')
    const php = page.getByRole('dialog').getByLabel(/^PHP/)
    await button(page, 'New site').first().click()
    await php.selectOption('8.1')
    await page.reload()
    await button(page, 'New site').first().click()
    await expect.poll(() => php.inputValue()).toBe('8.1')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await kept(page)).toBe('{}')
  })

  test('never contain passwords, codes, or names that confirm a deletion', async () => {
    await withPassword(panel.api, owner.accountId)
    const page = await panel.open(owner, 'account')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel('New password').fill('another lamp beside the door')
    await button(page, 'Set up authenticator app').click()
    await page.getByLabel('Code from the app').fill('123456')
    for (const secret of [PASSWORD, 'another lamp', '123456']) expect(await kept(page)).not.toContain(secret)
    await page.goto(`${panel.url}/#/sites/${site}/settings`)
    await button(page, 'Delete site').click()
    await page.getByRole('dialog').getByRole('textbox').fill('my-shop')
    expect(await kept(page)).not.toContain('my-shop')
    await page.reload()
    await button(page, 'Delete site').click()
    expect(await page.getByRole('dialog').getByRole('textbox').inputValue()).toBe('')
  })

  test('are removed at sign-out', async () => {
    const page = await panel.open(owner, `sites/${site}/settings`)
    await page.getByLabel('Site name', { exact: true }).fill('Half a na')
    expect(await kept(page)).toContain('Half a na')
    await signOut(page)
    await page.getByLabel('E-mail address').waitFor()
    expect(await kept(page)).toBe('{}')
  })
})
