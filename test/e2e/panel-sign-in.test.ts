/**
 * Signing in and confirming an identity, as a person does: passkeys of a device, the confirmation dialog, and sessions
 * that end or continue.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import postalMime from 'postal-mime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMailer } from '../../src/platform/mail/mailer.ts'
import { startWorker } from '../../src/platform/operations/harness.ts'
import { mailLink } from '../../src/resources/sign-in/password/mail-link.job.ts'
import { PASSWORD, withPassword } from '../../src/resources/sign-in/sign-in.fixture.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { signedIn, signOut } from '../support/panel.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

const DAY_MS = 86_400_000

describe.skipIf(!hasChromium)('sign-in', () => {
  let panel: PanelOverRecords
  let owner: Person
  let clock: number
  beforeEach(async () => {
    clock = Date.now()
    panel = await panelOverRecords({ now: () => clock })
    owner = await panel.api.person('owner@example.com')
    await withPassword(panel.api, owner.accountId)
  })
  afterEach(() => panel?.close())

  /** A virtual device with passkeys whose user has just been verified. */
  async function withDevice(page: Page): Promise<{ cdp: CDPSession; touch(isRight: boolean): Promise<unknown> }> {
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const touch = (isUserVerified: boolean) => cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    return { cdp, touch }
  }
  const signIn = async (page: Page) => {
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor()
  }
  const dialog = (page: Page) => page.getByRole('dialog', { name: "Confirm it's you" })

  test('adds a passkey after a fresh confirmation; it signs in without a password, confirms, and is removed', async () => {
    const page = await panel.open(owner, 'account')
    const device = await withDevice(page)
    clock += 16 * 60_000
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByLabel('Name of the device').fill('Laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click()
    await dialog(page).getByLabel('Password').fill(PASSWORD)
    await panel.judge(page)
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Passkey added.').waitFor()
    await panel.judge(page)
    await signOut(page)
    await device.touch(false)
    await page.getByRole('button', { name: 'Sign in with passkey' }).click()
    await page.getByText('The device did not confirm the passkey.').waitFor()
    await panel.judge(page)
    await device.touch(true)
    await page.getByRole('button', { name: 'Sign in with passkey' }).click()
    await signedIn(page).waitFor()
    clock += 16 * 60_000
    await page.goto(`${panel.url}/#/account`)
    await page.getByRole('button', { name: 'Remove passkey Laptop' }).click()
    await dialog(page).getByRole('button', { name: 'Use passkey' }).click()
    await page.getByRole('button', { name: 'Remove passkey Laptop' }).waitFor({ state: 'detached' })
    const { body } = await owner.call('GET', '/v1/passkeys')
    expect(body.data).toEqual([])
    expect(panel.faults).toEqual([])
  })

  test('asks for the password before an action that cannot be undone, rejects a wrong one, and does nothing without it', async () => {
    const { body } = await owner.call('POST', '/v1/applications', { name: 'Bot' })
    const page = await panel.open(owner, 'account')
    clock += 16 * 60_000
    const revoke = async (name: string) => {
      await page.getByRole('button', { name: `Revoke credential ${name}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke credential', exact: true }).click()
    }
    await revoke('Bot')
    await dialog(page).getByLabel('Password').fill('not this one')
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    await dialog(page).getByText('The e-mail address or the password is wrong.').waitFor()
    expect(await dialog(page).getByLabel('Password').inputValue()).toBe('not this one')
    await page.keyboard.press('Escape')
    await page.getByText('Confirm your password to continue').waitFor()
    await page.keyboard.press('Escape')
    const names = async () =>
      (await owner.call('GET', '/v1/applications')).body.data.map(({ name }: { name: string }) => name)
    expect(await names()).toContain(body.data.name)
    await revoke('Bot')
    await dialog(page).getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await expect.poll(names).not.toContain('Bot')
    // a confirmation lasts a quarter of an hour
    await owner.call('POST', '/v1/applications', { name: 'Other' })
    await page.reload()
    await revoke('Other')
    await expect.poll(names).not.toContain('Other')
    await expect.poll(() => dialog(page).count()).toBe(0)
  })

  test('lists sessions, and ends one from another', async () => {
    const [mine, other] = [await panel.open(undefined, ''), await panel.open(undefined, '')]
    for (const page of [mine, other]) await signIn(page)
    await mine.goto(`${panel.url}/#/account`)
    const sessions = mine.getByRole('region', { name: 'Devices that are signed in' })
    await sessions.getByText('This session').waitFor()
    await sessions
      .getByRole('button', { name: /^End session/ })
      .first()
      .click()
    await other.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await panel.judge(other)
    await sessions.getByText('This session').waitFor()
  })

  test('keeps a session that is used for months, and ends an unused one after thirty days', async () => {
    const page = await panel.open(undefined, '')
    await signIn(page)
    for (let turn = 0; turn < 4; turn++) {
      clock += 25 * DAY_MS
      await page.reload()
      await signedIn(page).waitFor()
    }
    clock += 31 * DAY_MS
    await page.reload()
    await page.getByLabel('E-mail address').waitFor()
  })

  describe('an invitation', () => {
    let outbox: string
    let stop: () => Promise<void>
    beforeEach(async () => {
      outbox = await mkdtemp(join(tmpdir(), 'stead-outbox-'))
      const { database, config } = panel.api
      const mailer = createMailer({ smtpUrl: undefined, from: config.mailFrom, outboxDir: outbox, panelUrl: '' })
      const services = { mailer, config, database }
      const worker = startWorker(database, [mailLink], { runner: 'control', services, lookEveryMs: 20 })
      stop = async () => {
        await worker.stop(1000)
        mailer.close()
        await rm(outbox, { recursive: true })
      }
    })
    afterEach(() => stop())

    /** Mails are written to another name first. */
    const mails = async () => (await readdir(outbox)).filter((name) => name.endsWith('.eml'))

    /**
     * Has the owner add someone in the panel. @returns the page that the link in the mail leads to, in a browser of its
     * own
     */
    async function invited(email: string): Promise<Page> {
      const site = await panel.api.site(owner, 'my-shop')
      const page = await panel.open(owner, `sites/${site}/collaborators`)
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Custom').check()
      await page.getByLabel('Manage notes').check()
      await page.getByRole('button', { name: 'Invite person' }).click()
      await expect.poll(mails).toHaveLength(1)
      const mail = await postalMime.parse(await readFile(join(outbox, (await mails())[0] as string)))
      expect(mail.to).toMatchObject([{ address: email }])
      const [path] = /#\/invitation\/[\w-]{43}/.exec(mail.text ?? '') ?? []
      const theirs = await (await panel.visitor()).newPage()
      await theirs.goto(`${panel.url}/${path}`)
      await theirs.getByRole('heading', { name: 'Welcome to Stead' }).waitFor()
      return theirs
    }
    async function mayWriteNotesAlone(page: Page): Promise<void> {
      // opens the only site directly, without a search
      await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/sites\/\d+$/)
      await page.getByRole('link', { name: 'Notes', exact: true }).click()
      await page.getByRole('button', { name: 'Add note' }).waitFor()
      await page.getByRole('link', { name: 'Plugins', exact: true }).waitFor()
      await expect.poll(() => page.getByRole('link', { name: 'SFTP and SSH', exact: true }).count()).toBe(0)
    }

    test('can be accepted with a password; its link works once', async () => {
      const page = await invited('anna@example.com')
      const link = page.url()
      await panel.judge(page)
      await page.getByLabel('New password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Set password' }).click()
      await mayWriteNotesAlone(page)
      const late = await (await panel.visitor()).newPage()
      await late.goto(link)
      await late.getByLabel('New password').fill(PASSWORD)
      await late.getByRole('button', { name: 'Set password' }).click()
      await late.getByText('The link was already used').waitFor()
      expect(panel.faults).toEqual([])
    })

    test('can be accepted with a passkey, which signs in from then on', async () => {
      const page = await invited('bert@example.com')
      const device = await withDevice(page)
      const make = page.getByRole('button', { name: 'Create passkey' })
      await device.touch(false)
      await page.getByLabel('Name of the device').fill('Phone')
      await make.click()
      await page.getByText('The device did not confirm the passkey.').waitFor()
      await device.touch(true)
      await make.click()
      await mayWriteNotesAlone(page)
      await signOut(page)
      await page.getByRole('button', { name: 'Sign in with passkey' }).click()
      await page.goto(`${panel.url}/#/account`)
      await page.getByRole('cell', { name: 'Phone', exact: true }).waitFor()
      expect(panel.faults).toEqual([])
    })
  })
})
