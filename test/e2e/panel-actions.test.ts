/** Less common tasks, as a person does them: each button asks first, and the page shows the result. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessRecord } from '../../src/edge/records/access-records.ts'
import { readMessage } from '../../src/hosting/php-log/php-message.ts'
import { phpRecord } from '../../src/hosting/php-log/php-records.ts'
import { accountHooks, jobs } from '../../src/jobs.ts'
import { createLogIds } from '../../src/platform/log-store/log-ids.ts'
import { startWorker } from '../../src/platform/operations/harness.ts'
import { withReleases } from '../../src/resources/cms-version/cms-version.fixture.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import { storeCheck } from '../../src/resources/domains/check.store.ts'
import { insertClaim } from '../../src/resources/domains/claim.store.ts'
import { removeAccountJob } from '../../src/resources/installation/accounts/remove-account.job.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

describe.skipIf(!hasChromium)('less common tasks', () => {
  let panel: PanelOverRecords
  let host: Awaited<ReturnType<typeof idleHost>>
  let owner: Person
  let page: Page
  let site: number
  beforeAll(async () => {
    panel = await panelOverRecords({ settings: { STEAD_BACKUP_DIR: '/backups' } })
    host = await idleHost(panel.api)
    owner = await panel.api.person('owner@example.com')
    site = await panel.api.site(owner, 'my-shop')
    page = await panel.open(owner, 'sites')
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
    expect(panel?.faults).toEqual([])
  })

  /** Opens a page from scratch: navigating to the current address would change nothing. */
  const at = async (path: string): Promise<void> => {
    const url = `${panel.url}/#/${path}`
    if (page.url() === url) await page.reload()
    else await page.goto(url)
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const shown = async () => (await owner.call('GET', `/v1/sites/${site}`)).body.data
  const typesOf = async () =>
    (await owner.call('GET', `/v1/operations?site_id=${site}`)).body.data.map(({ type }: { type: string }) => type)

  test('turns CDN addresses on, purges them, and turns them off; turns a site into a network', async () => {
    await at(`sites/${site}/cache`)
    const turned = (name: string, checked: boolean) => page.getByRole('switch', { name, checked })
    await button('Renew addresses').click()
    await page.getByRole('status').getByText('Addresses renewed').first().waitFor()
    await turned('Long browser caching', true).click()
    await turned('Long browser caching', false).waitFor()
    await button('Renew addresses').waitFor({ state: 'detached' })
    await turned('Long browser caching', false).click()
    await button('Renew addresses').waitFor()
    await at(`sites/${site}/settings`)
    await turned('Network of sites', false).click()
    await turned('Network of sites', true).waitFor()
    expect(await shown()).toMatchObject({ multisiteSupport: true })
  })

  describe('the operator', () => {
    test('suspends an account, resumes it, and undoes it', async () => {
      const { api } = panel
      const customer = await api.person('customer@example.com')
      await api.site(customer, 'of-a-customer')
      const isRefused = async () => (await customer.call('GET', '/v1/sites')).status === 401
      await at('platform?tab=accounts')
      const row = page.getByRole('row', { name: /customer@example\.com/ })
      await row.waitFor()
      await panel.judge(page)
      await row.getByRole('button', { name: 'Suspend account: customer@example.com' }).click()
      await dialog().getByText('Visitors of its site see that it is temporarily unavailable.').waitFor()
      await panel.judge(page)
      await dialog().getByRole('button', { name: 'Suspend account' }).click()
      await row.getByText('Suspended', { exact: true }).waitFor()
      expect(await isRefused()).toBe(true)
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().click()
      await row.getByText('Suspended', { exact: true }).waitFor({ state: 'detached' })
      expect(await isRefused()).toBe(false)
      // operators cannot suspend their own account
      const own = page.getByRole('row', { name: /owner@example\.com/ })
      await own.getByText('Operator', { exact: true }).waitFor()
      await expect.poll(() => own.getByRole('button').count()).toBe(0)
    })

    test('removes an account after its address is typed, and cancels that', async () => {
      const { api } = panel
      const leaver = await api.person('leaver@example.com')
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await api.site(leaver, `leaving-${name}`)
      const removal = async () => (await owner.call('GET', path)).body.data.account.removal
      const path = `/v1/installation/accounts/${leaver.accountId}/removal`
      await at('platform?tab=accounts')
      const row = page.getByRole('row', { name: /leaver@example\.com/ })
      const open = async () => {
        await row.getByRole('button', { name: 'More actions for leaver@example.com' }).click()
        await row.getByRole('menuitem', { name: 'Remove account…' }).click()
      }
      await open()
      const report = dialog().getByRole('list', { name: 'What the removal deletes, and what stays' })
      await report.getByText('7 sites').waitFor()
      await report.getByText('leaving-a, leaving-b, leaving-c, leaving-d, leaving-e, and 2 more').waitFor()
      await report.getByText("Backups of Stead's own records").waitFor()
      await panel.judge(page)
      expect(await dialog().getByLabel('Delete the account').inputValue()).toBe('7')
      // another address removes nothing
      await dialog().getByLabel('Type leaver@example.com to confirm').fill('customer@example.com')
      await dialog().getByRole('button', { name: 'Remove account' }).click()
      await dialog().getByRole('alert').getByText('The address does not match.').waitFor()
      expect(await removal()).toBeNull()
      await dialog().getByLabel('Type leaver@example.com to confirm').fill('leaver@example.com')
      await dialog().getByLabel('Delete the account').selectOption('After 3 days')
      await dialog().getByRole('button', { name: 'Remove account' }).click()
      await row.getByText(/^Removal on /).waitFor()
      await expect.poll(() => dialog().count()).toBe(0)
      const { state, requested_at, due_at } = await removal()
      expect(state).toBe('waiting')
      expect(Date.parse(due_at) - Date.parse(requested_at)).toBe(3 * 86_400_000)
      // it stays suspended, so nothing else can be done
      expect(await row.getByRole('button').allTextContents()).toEqual(['Cancel removal', ''])
      await panel.judge(page)
      await row.getByRole('button', { name: 'More actions for leaver@example.com' }).click()
      await row.getByRole('menuitem', { name: 'Change date…' }).click()
      await dialog().getByText('The days count from today.').waitFor()
      await dialog().getByLabel('Type leaver@example.com to confirm').fill('leaver@example.com')
      await dialog().getByLabel('Delete the account').selectOption('After 14 days')
      await panel.judge(page)
      await dialog().getByRole('button', { name: 'Change date' }).click()
      await dialog().waitFor({ state: 'detached' })
      const changed = await removal()
      expect(changed.state).toBe('waiting')
      expect(Date.parse(changed.due_at) - Date.parse(changed.requested_at)).toBe(14 * 86_400_000)
      await row.getByRole('button', { name: 'Cancel removal: leaver@example.com' }).click()
      await page.getByRole('status').getByText('Removal of leaver@example.com canceled').waitFor()
      await row.getByRole('button', { name: 'Suspend account: leaver@example.com' }).waitFor()
      expect(await removal()).toBeNull()
      expect((await leaver.call('GET', '/v1/sites')).status).toBe(200)
    })

    test('removes an account after some days, and takes it back in the message', async () => {
      const { api } = panel
      const email = 'doubtful@example.com'
      const doubtful = await api.person(email)
      await at('platform?tab=accounts')
      const row = page.getByRole('row', { name: /doubtful@example\.com/ })
      await row.getByRole('button', { name: `More actions for ${email}` }).click()
      await row.getByRole('menuitem', { name: 'Remove account…' }).click()
      await dialog().getByLabel(`Type ${email} to confirm`).fill(email)
      await dialog().getByRole('button', { name: 'Remove account' }).click()
      await row.getByText(/^Removal on /).waitFor()
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().click()
      await row.getByRole('button', { name: `Suspend account: ${email}` }).waitFor()
      expect((await doubtful.call('GET', '/v1/sites')).status).toBe(200)
    })

    test('removes an account now, and follows the removal', async () => {
      const { api } = panel
      const { database, backups } = api
      const email = 'gone@example.com'
      const { accountId } = await api.person(email)
      await at('platform?tab=accounts')
      const row = page.getByRole('row', { name: /gone@example\.com/ })
      await row.getByRole('button', { name: `More actions for ${email}` }).click()
      await row.getByRole('menuitem', { name: 'Remove account…' }).click()
      await dialog().getByLabel(`Type ${email} to confirm`).fill(email)
      await dialog().getByLabel('Delete the account').selectOption('Now. You cannot cancel the removal')
      await dialog().getByRole('button', { name: 'Remove account' }).click()
      await page.getByRole('status').getByText(`Removing ${email}`).first().waitFor()
      const services = { database, backups, definitions: jobs, accountHooks }
      const worker = startWorker(database, [removeAccountJob], { services: services as never, lookEveryMs: 20 })
      await row.waitFor({ state: 'detached' })
      await worker.stop(1000)
      const left = database.read.selectFrom('accounts').select('email').where('id', '=', accountId)
      expect(await left.execute()).toEqual([])
    })

    test('sees why an account cannot be removed', async () => {
      const holder = await panel.api.person('holder@example.com')
      await zoneIn(panel.api, { accountId: holder.accountId, siteId: site })
      await at('platform?tab=accounts')
      await page.getByRole('button', { name: 'More actions for holder@example.com' }).click()
      await page.getByRole('menuitem', { name: 'Remove account…' }).click()
      await dialog()
        .getByText(/^Sites of other accounts use the domain .* Remove the domain from those sites/)
        .waitFor()
      await dialog().getByText('1 DNS zone').waitFor()
      await expect.poll(() => dialog().getByRole('button', { name: 'Remove account' }).count()).toBe(0)
      await panel.judge(page)
    })

    test('retries a removal that failed', async () => {
      const { api } = panel
      const email = 'stuck@example.com'
      const { accountId } = await api.person(email)
      const asked = await owner.call('POST', `/v1/installation/accounts/${accountId}/removal`, { email })
      await api.database.transaction(async (tx) => {
        const id = Number(asked.headers['operation-id'])
        const failed = { state: 'failed', error: 'A disk is broken', finished_at: 1 } as const
        await tx.updateTable('operations').set(failed).where('id', '=', id).execute()
        await tx.updateTable('account_removals').set({ begun_at: 1 }).where('account_id', '=', accountId).execute()
      })
      await at('platform?tab=accounts')
      const row = page.getByRole('row', { name: /stuck@example\.com/ })
      await row.getByText('Removal failed', { exact: true }).waitFor()
      await panel.judge(page)
      // too late
      await row.getByRole('button', { name: `More actions for ${email}` }).click()
      await row.getByRole('menuitem', { name: 'Cancel removal' }).click()
      await page.getByRole('status').getByText('The removal of the account has begun').waitFor()
      await row.getByRole('button', { name: `Retry removal: ${email}` }).click()
      await row.getByText('Removing', { exact: true }).waitFor()
      await expect.poll(() => row.getByRole('button').count()).toBe(0)
    })

    test('cordons a host, and lets it take new sites again', async () => {
      await at('platform?tab=hosts')
      await button('Cordon host: h').click()
      await dialog().getByText('No other host takes new sites').waitFor()
      await dialog().getByRole('button', { name: 'Cordon host' }).click()
      await page.getByText('Cordoned', { exact: true }).waitFor()
      expect((await owner.call('POST', '/v1/sites', { name: 'nowhere' })).body.code).toBe('no_host')
      await button('Uncordon host: h').click()
      await button('Cordon host: h').waitFor()
      await panel.judge(page)
    })

    test('drains a host when another one can take its sites', async () => {
      const { database } = panel.api
      await at('platform?tab=hosts')
      await button('Cordon host: h').waitFor()
      await expect.poll(() => button('Drain host: h').count()).toBe(0)
      const seen = { facts: '{}', seen_at: Date.now() + 30_000 }
      const far = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, ...seen }
      await database.transaction((tx) => tx.insertInto('hosts').values(far).execute())
      await page.reload()
      await button('Drain host: h').click()
      await dialog().getByText('Each site is unavailable for a short time').waitFor()
      await panel.judge(page)
      await dialog().getByRole('button', { name: 'Drain host' }).click()
      await page.getByText('Draining', { exact: true }).waitFor()
      await expect.poll(() => button('Drain host: h').count()).toBe(0)
      const { data } = (await owner.call('GET', '/v1/operations?type=host.drain')).body
      expect(data).toMatchObject([{ type: 'host.drain', state: 'queued' }])
      await database.transaction((tx) => tx.deleteFrom('hosts').where('name', '=', 'far').execute())
      await owner.call('PUT', '/v1/installation/hosts/h/uncordon')
    })

    test('drains a host that has only deleted sites, and offers it for no empty one', async () => {
      const { api } = panel
      const { database } = api
      const deleted = await api.site(owner, 'in-the-trash')
      const seen = { facts: '{}', seen_at: Date.now() + 30_000, address: 'http://127.0.0.1:2', datacenters: '' }
      const home = { core_version: '6.8', install: 'wordpress', created_at: 1, state: 'taken' } as const
      await database.transaction(async (tx) => {
        const [trash] = await tx
          .insertInto('hosts')
          .values(['trash', 'empty'].map((name) => ({ ...seen, name, max_sites: 9 })))
          .returning('id')
          .execute()
        await tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', deleted).execute()
        await tx
          .insertInto('site_homes')
          .values({ ...home, site_id: deleted, host_id: Number(trash?.id) })
          .execute()
      })
      await at('platform?tab=hosts')
      await button('Drain host: trash').click()
      await dialog().getByText('One deleted site in the trash moves, too').waitFor()
      await expect.poll(() => dialog().getByText('is unavailable').count()).toBe(0)
      await dialog().getByRole('button', { name: 'Cancel' }).click()
      await expect.poll(() => button('Drain host: empty').count()).toBe(0)
      await database.transaction(async (tx) => {
        await tx.deleteFrom('site_homes').where('site_id', '=', deleted).execute()
        await tx.deleteFrom('hosts').where('name', 'in', ['trash', 'empty']).execute()
      })
    })

    test('replaces a host with the one that the operator chooses, and pauses its moves', async () => {
      const { database } = panel.api
      const seen = { facts: '{}', seen_at: Date.now() + 30_000, address: 'http://127.0.0.1:2', datacenters: '' }
      const names = ['old', 'small', 'roomy']
      const rows = names.map((name) => ({ ...seen, name, max_sites: name === 'roomy' ? 90 : 9 }))
      await database.transaction((tx) => tx.insertInto('hosts').values(rows).execute())
      await at('platform?tab=hosts')
      await button('More actions: old').click()
      await page.getByRole('menuitem', { name: 'Replace host…' }).click()
      await dialog().getByRole('radio', { name: 'roomy', checked: true }).waitFor()
      // The dialog is in a cell whose text ends at the right.
      expect(await dialog().evaluate((shown) => getComputedStyle(shown).textAlign)).toBe('start')
      await panel.judge(page)
      await dialog().getByRole('radio', { name: 'small' }).check()
      await dialog().getByRole('button', { name: 'Replace host' }).click()
      await page.getByText('Replace old with small').first().waitFor()
      await page.reload()
      await button('Pause moves: old').click()
      await page.getByText('Paused', { exact: true }).waitFor()
      const { data } = (await owner.call('GET', '/v1/operations?type=host.replace')).body
      expect(data).toMatchObject([{ state: 'queued', pausedAt: expect.any(String) }])
      await button('Continue moves: old').click()
      await button('Pause moves: old').waitFor()
      await panel.judge(page)
      await database.transaction((tx) => tx.deleteFrom('hosts').where('name', 'in', names).execute())
    })

    test('rebalances hosts after a look at the plan', async () => {
      const { api } = panel
      const reports = { address: 'http://127.0.0.1:2', datacenters: '', facts: '{}', seen_at: Date.now() + 30_000 }
      const hosts = [
        { ...reports, name: 'crowded', max_sites: 9 },
        { ...reports, name: 'roomy', max_sites: 900 },
      ]
      const busy = [await api.site(owner, 'busy-1'), await api.site(owner, 'busy-2')]
      const home = { core_version: '6.8', install: 'wordpress', created_at: 1, state: 'taken' } as const
      const day = Math.floor(Date.now() / 86_400_000)
      await api.database.transaction(async (tx) => {
        const [crowded] = await tx.insertInto('hosts').values(hosts).returning('id').execute()
        const host_id = crowded?.id as number
        await tx.updateTable('sites').set({ host_id }).where('id', 'in', busy).execute()
        for (const site_id of busy) {
          await tx
            .insertInto('site_homes')
            .values({ ...home, host_id, site_id })
            .execute()
          await tx.insertInto('page_view_days').values({ site_id, day, views: 400, people: 1 }).execute()
        }
      })
      await at('platform?tab=hosts')
      await page.reload()
      await button('Rebalance…').click()
      const moves = dialog().getByRole('region', { name: 'Sites that move' })
      await moves.getByText('crowded → roomy').first().waitFor()
      await panel.judge(page)
      await dialog()
        .getByRole('button', { name: /^Move \d+ sites?$/ })
        .click()
      await page.getByRole('status').getByText('emptier host').first().waitFor()
      const { data } = (await owner.call('GET', '/v1/operations?type=hosts.rebalance')).body
      expect(data).toMatchObject([{ type: 'hosts.rebalance', state: 'queued' }])
      await api.database.transaction(async (tx) => {
        await tx.deleteFrom('operations').where('type', '=', 'hosts.rebalance').execute()
        await tx.deleteFrom('site_homes').where('site_id', 'in', busy).execute()
        await tx.updateTable('sites').set({ host_id: 1 }).where('id', 'in', busy).execute()
        await tx
          .deleteFrom('hosts')
          .where(
            'name',
            'in',
            hosts.map(({ name }) => name),
          )
          .execute()
      })
      for (const id of busy) await owner.call('DELETE', `/v1/sites/${id}`)
    })

    test('moves a site to a host that can take it, and sees why others cannot', async () => {
      const { database } = panel.api
      const more = button('More actions')
      const entry = page.getByRole('menuitem', { name: 'Move to another host' })
      await at(`sites/${site}/overview`)
      await panel.settled(page)
      await more.click()
      await page.getByRole('menuitem', { name: 'Reset admin password' }).waitFor()
      // An installation on one machine has nothing to choose.
      await expect.poll(() => entry.count()).toBe(0)
      const seen = { address: 'http://127.0.0.1:2', datacenters: '', facts: '{}', seen_at: Date.now() + 30_000 }
      const others = [
        { ...seen, name: 'roomy', max_sites: 90, state: 'active' as const },
        { ...seen, name: 'small', max_sites: 9, state: 'active' as const },
        { ...seen, name: 'resting', max_sites: 9, state: 'cordoned' as const },
      ]
      await database.transaction((tx) => tx.insertInto('hosts').values(others).execute())
      await page.reload()
      await more.click()
      await entry.click()
      const hosts = dialog().getByRole('group', { name: 'Hosts' })
      await hosts.getByText('Current host').waitFor()
      await hosts.getByText('0 of 90 sites').waitFor()
      await hosts.getByText('PHP 8.1, 8.2, 8.3').first().waitFor()
      await hosts.getByText('The host gets no new sites.').waitFor()
      await dialog().getByText('Pages in the edge cache still open.').waitFor()
      const radio = (name: RegExp) => hosts.getByRole('radio', { name })
      // The host with the most room is chosen.
      expect([await radio(/roomy/).isChecked(), await radio(/resting/).isDisabled()]).toEqual([true, true])
      await radio(/small/).check()
      await panel.judge(page)
      await dialog().getByRole('button', { name: 'Move site' }).click()
      await page.getByRole('status').getByText('Move to small').first().waitFor()
      expect(await typesOf()).toContain('site.relocate')
      const names = others.map(({ name }) => name)
      await database.transaction((tx) => tx.deleteFrom('hosts').where('name', 'in', names).execute())
    })

    test('declares a host lost by typing its name, lets it return, and removes it', async () => {
      const { database } = panel.api
      const host = { address: '', datacenters: '', max_sites: 9, facts: '{}' }
      const dead = { ...host, name: 'dead', seen_at: 0 }
      const well = { ...host, name: 'well', seen_at: Date.now() + 30_000 }
      await database.transaction((tx) => tx.insertInto('hosts').values([dead, well]).execute())
      await at('platform?tab=hosts')
      await button('More actions: dead').click()
      await page.getByRole('menuitem', { name: 'Declare lost' }).click()
      await dialog().getByLabel('Type dead').fill('dead')
      await panel.judge(page)
      await dialog().getByRole('button', { name: 'Declare lost' }).click()
      // On SQLite, everything is one machine, which the host is on.
      await dialog().getByText('dead is running').waitFor()
      const lose = () =>
        database.transaction((tx) =>
          tx.updateTable('hosts').set({ state: 'lost' }).where('name', '=', 'dead').execute(),
        )
      await lose()
      await page.reload()
      await page.getByText('Lost', { exact: true }).waitFor()
      await button('Return host: dead').click()
      await page.getByRole('status').getByText('Host dead may run again').waitFor()
      await lose()
      await page.reload()
      await button('More actions: dead').click()
      await page.getByRole('menuitem', { name: 'Remove host' }).click()
      await dialog().getByRole('button', { name: 'Remove host' }).click()
      await page.getByRole('status').getByText('Host dead removed').waitFor()
      await expect.poll(() => button('Cordon host: dead').count()).toBe(0)
      await panel.judge(page)
      await database.transaction((tx) => tx.deleteFrom('hosts').where('name', '=', 'well').execute())
    })

    test('removes a host only when no deleted site is in its trash', async () => {
      const { api } = panel
      const gone = await api.site(owner, 'gone')
      const old = { name: 'old', address: '', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
      const home = { site_id: gone, core_version: '6.8', install: 'wordpress', created_at: 1, state: 'taken' } as const
      await api.database.transaction(async (tx) => {
        const added = tx
          .insertInto('hosts')
          .values({ ...old, state: 'lost' })
          .returning('id')
        const { id } = await added.executeTakeFirstOrThrow()
        await tx.updateTable('sites').set({ host_id: id, deleted_at: 1 }).where('id', '=', gone).execute()
        await tx
          .insertInto('site_homes')
          .values({ ...home, host_id: id })
          .execute()
      })
      await at('platform?tab=hosts')
      await page.getByText('1 deleted site', { exact: true }).waitFor()
      await expect.poll(() => button('More actions: old').count()).toBe(0)
      await panel.judge(page)
      await api.database.transaction((tx) => tx.deleteFrom('site_homes').where('site_id', '=', gone).execute())
      await page.reload()
      await button('More actions: old').click()
      await page.getByRole('menuitem', { name: 'Remove host' }).click()
      await dialog().getByRole('button', { name: 'Remove host' }).click()
      await page.getByRole('status').getByText('Host old removed').waitFor()
    })

    test('sees the open tab on a phone', async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      await at('platform?tab=processes')
      await page.reload()
      const tab = await page.getByRole('tab', { name: 'Processes and limits' }).boundingBox()
      expect((tab?.x ?? 0) + (tab?.width ?? 999)).toBeLessThanOrEqual(390)
      await page.setViewportSize({ width: 1280, height: 720 })
    })
  })

  test('converts a live site to a staging site and back', async () => {
    await at(`sites/${site}/settings`)
    for (const kind of ['Convert to staging', 'Convert to live']) {
      await button(kind).click()
      await dialog().getByRole('button', { name: kind }).click()
      await dialog().waitFor({ state: 'detached' })
    }
    await button('Convert to staging').waitFor()
    expect(await shown()).toMatchObject({ staging: false })
  })

  test('updates WordPress to the latest release, and shows the operation', async () => {
    await withReleases(panel.api, '99.0')
    await at(`sites/${site}/cache`)
    await button('Update WordPress').click()
    await page.getByRole('status').getByText('Updating WordPress').first().waitFor()
    await expect.poll(typesOf).toContain('site.update_cms_version')
  })

  test('creates, shows, and revokes an extension license', async () => {
    await at(`sites/${site}/settings`)
    await button('Issue license').click()
    await button('Revoke license').waitFor()
    const license = async () => (await owner.call('GET', `/v1/sites/${site}/ext`)).body.data
    const { licenseKey } = await license()
    await page.getByText(licenseKey).waitFor()
    await panel.judge(page)
    await button('Revoke license').click()
    await dialog().getByRole('button', { name: 'Revoke license' }).click()
    await button('Issue license').waitFor()
    expect((await license()).revokedAt).not.toBeNull()
  })

  test('retries a certificate', async () => {
    const name = (await owner.call('POST', `/v1/sites/${site}/domains`, { name: 'shop.example.com' })).body.data
    expect(name).toBeTruthy()
    const seen = { isDnsConfirmed: true, isProvisioned: true, isHealthy: true, reason: null }
    await panel.api.database.transaction((tx) =>
      storeCheck(
        tx,
        { siteId: site, hostName: 'shop.example.com', before: undefined, confirmedAt: null },
        seen,
        Date.now(),
      ),
    )
    await at(`sites/${site}/domains`)
    await page.getByText('DNS records found').waitFor()
    await panel.judge(page)
    await button('Request certificate for shop.example.com').click()
    await page.getByRole('status').getByText('Request certificate').first().waitFor()
    const { data } = (await owner.call('POST', '/v1/account/logs/activity', {})).body
    expect(data.map(({ message }: { message: string }) => message)).toContain(
      'Requested a retry of the certificate for shop.example.com',
    )
  })

  test('says what the certificate of a wildcard needs, wherever its names lead', async () => {
    await owner.call('POST', `/v1/sites/${site}/domains`, { name: '*.net.example.com' })
    await at(`sites/${site}/domains`)
    const steps = page.getByRole('list', { name: 'Setup of *.net.example.com' })
    await steps
      .getByText('Let Stead serve the zone of net.example.com, or make _acme-challenge.net.example.com')
      .waitFor()
    await expect.poll(() => steps.getByText('when the DNS is correct').count()).toBe(0)
    await steps.getByRole('button', { name: 'Request certificate for *.net.example.com' }).waitFor()
    const others = page.getByRole('list', { name: 'Setup of shop.example.com' })
    await expect.poll(() => others.getByText('Let Stead serve').count()).toBe(0)
    await panel.judge(page)
  })

  test('shows the claim of a domain that another account has, and cancels it', async () => {
    const other = await panel.api.person('other@example.com')
    const otherSite = await panel.api.site(other, 'other-shop')
    await other.call('POST', `/v1/sites/${otherSite}/domains`, { name: 'claimed.example' })
    const claim = { zone: 'claimed.example', hostName: 'claimed.example', siteId: site, value: 'proof', movesAt: 2e12 }
    const ofAccounts = { accountId: owner.accountId, holderId: other.accountId }
    await panel.api.database.transaction((tx) => insertClaim(tx, { ...claim, ...ofAccounts }))
    await at(`sites/${site}/domains`)
    await page.getByText('Keep the TXT record until then').waitFor()
    await panel.judge(page)
    await button('Cancel claim').click()
    await page.getByText('Claim of claimed.example canceled').waitFor()
    await expect.poll(() => button('Cancel claim').count()).toBe(0)
    expect(await panel.api.database.read.selectFrom('zone_claims').select('id').execute()).toEqual([])
    // the account that has the domain sees the claim
    await owner.call('POST', `/v1/sites/${site}/domains`, { name: 'wanted.example' })
    const byOther = { zone: 'wanted.example', hostName: 'wanted.example', siteId: otherSite, value: 'proof' }
    const accounts = { accountId: other.accountId, holderId: owner.accountId }
    await panel.api.database.transaction((tx) => insertClaim(tx, { ...byOther, ...accounts, movesAt: 2e12 }))
    await page.reload()
    await page.getByText('remove the TXT record _stead-challenge.wanted.example').waitFor()
    await expect.poll(() => button('Cancel claim').count()).toBe(0)
    await panel.judge(page)
  })

  test('add-ons', async () => {
    await at('account/plan')
    const row = page.getByRole('row').nth(1)
    await row.getByRole('spinbutton').fill('3')
    await row.getByRole('button', { name: 'Set quantity', exact: true }).click()
    await page.getByText('Add-ons changed').waitFor()
    await expect
      .poll(async () => (await owner.call('GET', '/v1/account/addons/attached')).body.data)
      .toMatchObject([{ quantity: 3 }])
    await panel.judge(page)
  })

  test('adds a must-use plugin, fetches it again, and deletes it', async () => {
    await at('account/mu-plugins')
    await button('Add must-use plugin').click()
    await page.getByLabel(/^Public https/).fill('https://plugins.example.com/tools.php')
    await panel.judge(page)
    await dialog().getByRole('button', { name: 'Add must-use plugin' }).click()
    await page.getByText('Install https://plugins.example.com/tools.php').waitFor()
    await page.getByRole('cell', { name: 'All, and new ones' }).waitFor()
    await page.getByRole('button', { name: /^Fetch again: / }).click()
    await page.getByRole('button', { name: /^Delete / }).click()
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No must-use plugins yet').waitFor()
    expect((await owner.call('GET', '/v1/mu-plugins')).body.data).toEqual([])
  })

  describe('logs', () => {
    const nextId = createLogIds()
    const access = (request_url: string, atMs: number) => ({
      ...{ siteId: site, body_bytes_sent: 12, cached: '', date: new Date(atMs).toISOString(), http2: '' },
      ...{ http_host: 'my-shop.localhost', http_referer: '', http_user_agent: 'test', http_version: 'HTTP/1.1' },
      ...{
        http_x_forwarded_for: '',
        renderer: 'php',
        request_completion: 'OK',
        request_time: 0.25,
        request_type: 'GET',
      },
      ...{
        request_url,
        scheme: 'http',
        status: 200,
        timestamp: Math.floor(atMs / 1000),
        type: 'access',
        user_ip: '192.0.2.1',
      },
    })

    test('shows older visits page by page, which stay in place until the log is followed again', async () => {
      const now = Date.now()
      await panel.api.logs.append(
        'server',
        Array.from({ length: 250 }, (_, n) => accessRecord(access(`/of-${n}`, now - n * 10) as never, nextId())),
      )
      await at(`sites/${site}/logs`)
      const rows = page.getByRole('region', { name: 'Visits' }).getByRole('row')
      await page.getByText('GET /of-0', { exact: true }).waitFor()
      expect(await rows.count()).toBe(201)
      await button('Show older entries').click()
      await page.getByText('GET /of-249', { exact: true }).waitFor()
      expect(await rows.count()).toBe(251)
      expect(await page.getByLabel('Live', { exact: true }).isChecked()).toBe(false)
      await panel.api.logs.append('server', [accessRecord(access('/new', Date.now()) as never, nextId())])
      await button('Show older entries').click()
      await button('Show older entries').waitFor({ state: 'detached' })
      expect(await rows.count()).toBe(251)
      await page.getByLabel('Live', { exact: true }).check()
      await page.getByText('GET /new', { exact: true }).waitFor()
      // following includes the filter
      await page.getByLabel('Live', { exact: true }).uncheck()
      await page.getByLabel('Status', { exact: true }).selectOption('404 Not found')
      await page.getByText('No entries match').waitFor()
      // the address keeps the filter, and a chip removes it
      await page.reload()
      await page.getByText('No entries match').waitFor()
      await button('Remove filter Status: 404 Not found').click()
      await page.getByText('GET /new', { exact: true }).waitFor()
    })

    test('shows PHP errors with their location, by severity', async () => {
      const texts = [
        'PHP Warning:  Undefined variable $x in /wordpress/wp-content/plugins/shop/a.php on line 3',
        'PHP Deprecated:  old in /wordpress/wp-includes/z.php on line 5',
      ]
      const records = texts.map((text, n) =>
        phpRecord({ siteId: site, atMs: Date.now() - n * 1000, id: nextId() }, readMessage(text)),
      )
      await panel.api.logs.append('php', records)
      await page.getByRole('tab', { name: 'PHP' }).click()
      const warning = page.getByRole('row', { name: /Undefined variable/ })
      await warning.getByText('wp-content/plugins/shop/a.php:3').waitFor()
      await page.getByRole('row', { name: /old/ }).waitFor()
      await page.getByText('Deprecated 1').waitFor()
      await panel.judge(page)
      await page.getByLabel('Severity').selectOption('Deprecated')
      await warning.waitFor({ state: 'detached' })
      await page.getByRole('row', { name: /old/ }).waitFor()
    })
  })
})
