/**
 * Each page offers exactly what the person may do: every part of a site for every role, compared with the API's
 * answers.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { type Role, roles } from '../../src/resources/access/roles.ts'
import { storedIn } from '../../src/resources/backups/backups.fixture.ts'
import { restoredIn } from '../../src/resources/backups/restore/restore.fixture.ts'
import { syncWpUser } from '../../src/resources/collaborators/sync-wp-user.job.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import { storePlugins } from '../../src/resources/plugins/plugin.store.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { idleHost } from '../support/idle-host.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

/** What everyone who sees the site may do: choose how they view it, and how their own account arranges it. */
const open: Readonly<Record<string, readonly string[]>> = {
  overview: ['Favorite', 'Add tag', 'More actions', 'Copy SFTP and SSH host', 'Copy SFTP command'],
  statistics: ['30 days', '90 days', '12 months'],
  logs: ['Visits', 'PHP'],
  activity: ['Export CSV'],
  imports: ['Upload', 'Web address', 'SSH', 'Plugin'],
  plugins: ['All 2', 'Updates due 2', 'Inactive 1', 'Must-use 0'],
  domains: ['Copy name', 'Copy value 127.0.0.1', 'Copy records'],
  sftp: ['Host', 'Port', 'SFTP command', 'WP-CLI over SSH', 'Export database', 'Import database'].map(
    (name) => `Copy ${name}`,
  ),
  backups: ['All', 'On demand', 'Automatic', 'Before a change'],
}
/** The permission that is needed to read a part at all. */
const readBy: Readonly<Record<string, string>> = {
  backups: 'listOndemandBackups',
  imports: 'listImports',
  sftp: 'listSftpUsers',
  database: 'getDatabaseAdminUrl',
  notes: 'listNotes',
}
/** Buttons for what a person has. Only the owner has an SFTP user here. */
const ofOwnUser: Readonly<Record<string, readonly string[]>> = { overview: ['Copy SFTP command'] }

interface Right {
  readonly operation: string
  readonly field: string | null
  readonly allowed: boolean
  readonly reason: string | null
}
interface Shown {
  /** Operations that the buttons and forms are for. */
  readonly of: readonly string[]
  /** Buttons that are for no operation. */
  readonly others: readonly string[]
  /** Why something is hidden. */
  readonly reasons: readonly string[]
}

describe.skipIf(!hasChromium)('what the pages of a site offer', () => {
  let panel: PanelOverRecords
  let host: Awaited<ReturnType<typeof idleHost>>
  let owner: Person
  let helper: Person
  let site: number
  let parts: string[]
  let ofOwner: Map<string, Shown>
  beforeAll(async () => {
    panel = await panelOverRecords()
    const { api } = panel
    owner = await api.person('owner@example.com')
    helper = await api.person('helper@example.com')
    const mate = await api.person('mate@example.com')
    site = await api.site(owner, 'my-shop')
    await api.collaborate(mate, site, ['wp_access'])
    await zoneIn(api, { accountId: owner.accountId, siteId: site, name: 'my-shop.test' })
    await storedIn(api, site)
    await owner.call('POST', `/v1/sites/${site}/notes`, { subject: 'Whom to call', body: 'Anna' })
    await restoredIn(api, { siteId: site, accountId: owner.accountId })
    // the list of plugins waits for it
    host = await idleHost(api)
    const { hostId } = host
    await api.database.transaction(async (tx) => {
      const input = { siteId: site, accountId: mate.accountId, reassign: 'keep' } as const
      const target = { siteId: site, accountId: owner.accountId, hostId, runAt: Date.now() + 3_600_000 }
      await enqueue(tx, syncWpUser, input, target)
      const failed = await enqueue(tx, syncWpUser, input, target)
      const end = { state: 'failed', error: 'x', finished_at: Date.now() } as const
      await tx.updateTable('operations').set(end).where('id', '=', failed).execute()
      const plugin = { title: '', description: '', version: '1.0', update: 'available', updateVersion: '2.0' } as const
      const plugins = [
        { ...plugin, name: 'forms', file: 'forms/forms.php', status: 'active' },
        { ...plugin, name: 'gallery', file: 'gallery/gallery.php', status: 'inactive' },
      ] as const
      await storePlugins(tx, site, { plugins, themes: [] }, Date.now())
    })
    const page = await panel.open(owner, `sites/${site}/overview`)
    await panel.settled(page)
    parts = await page
      .getByRole('navigation', { name: 'Site' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).hash.split('/').at(-1) as string))
    ofOwner = new Map(await inOrder(parts, async (part) => [part, await shown(page, part)]))
    await page.context().close()
  })
  afterAll(async () => {
    await host?.stop(1000)
    await panel?.close()
  })

  async function go(page: Page, path: string): Promise<void> {
    await page.evaluate((to) => {
      location.hash = to
    }, path)
    await panel.settled(page)
  }
  /** What a part shows to someone with all permissions. */
  async function shown(page: Page, part: string): Promise<Shown> {
    await go(page, `/sites/${site}/${part}`)
    return page.evaluate(() => {
      const main = document.querySelector('main') as HTMLElement
      const named = [...main.querySelectorAll<HTMLElement>('[data-of]')].map(({ dataset }) => dataset.of ?? '')
      // heads of tables only sort them, and choose their columns
      const buttons = [...main.querySelectorAll<HTMLButtonElement>('button:not([data-of], th *)')]
      const others = buttons.filter((button) => !button.closest('form[data-of]'))
      const reasons = [...main.querySelectorAll('details dd')].map(({ textContent }) => textContent)
      return {
        of: [...new Set(named)].toSorted(),
        others: others.map((button) => button.ariaLabel ?? button.textContent),
        reasons: [...new Set(reasons)].toSorted(),
      }
    })
  }
  async function inOrder<Item, Result>(
    items: readonly Item[],
    work: (item: Item) => Promise<Result>,
  ): Promise<Result[]> {
    const done: Result[] = []
    for (const item of items) done.push(await work(item))
    return done
  }
  const nameOf = ({ operation, field }: Right) => (field ? `${operation} ${field}` : operation)
  /** Sessions that began in the browser are valid only at its address. */
  const here = () => ({ host: new URL(panel.url).host })
  const rightsOf = async (who: Person): Promise<Right[]> =>
    (await who.browse('GET', `/v1/sites/${site}/rights`, undefined, here())).body.data
  const actionsOf = async (who: Person): Promise<{ action: string; allowed: boolean; reason: string | null }[]> => {
    const { data } = (await who.browse('GET', `/v1/operations?site_id=${site}`, undefined, here())).body
    return data.flatMap(({ actions }: { actions: unknown[] }) => actions)
  }

  test('names the operation of every button that changes the site', async () => {
    const known = new Set((await rightsOf(owner)).map(nameOf))
    expect(parts.length).toBeGreaterThan(10)
    for (const [part, { of, others, reasons }] of ofOwner) {
      expect([part, of.filter((name) => !known.has(name))]).toEqual([part, []])
      if (part !== 'operations') expect([part, others]).toEqual([part, open[part] ?? []])
      expect([part, reasons]).toEqual([part, []])
    }
    // an undo, a retry, and a cancel
    const ofWork = ofOwner.get('operations')?.others.filter((name) => name !== 'Export CSV')
    expect(ofWork).toHaveLength((await actionsOf(owner)).length)
    expect(new Set((await actionsOf(owner)).map(({ action }) => action))).toEqual(new Set(['undo', 'retry', 'cancel']))
  })

  const held: (readonly [string, readonly Role[]])[] = [
    ['none', []],
    ...roles.map((role) => [role, [role]] as const),
    ['all', roles],
  ]
  let page: Page
  beforeAll(async () => {
    page = await panel.open(helper, 'sites')
  })
  test.each(held)('match the role %s of a collaborator', async (_, given) => {
    await panel.api.collaborate(helper, site, given)
    // permissions are read when the page of the site is opened
    await go(page, '/activity')
    await go(page, `/sites/${site}/overview`)
    const rights = await rightsOf(helper)
    const refusals = new Map(rights.filter(({ allowed }) => !allowed).map((each) => [nameOf(each), each.reason ?? '']))
    const seen = await page
      .getByRole('navigation', { name: 'Site' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).hash.split('/').at(-1)))
    const closed = parts.filter((part) => refusals.has(readBy[part] ?? ''))
    expect(seen).toEqual(parts.filter((part) => !closed.includes(part)))
    for (const part of parts) {
      const all = ofOwner.get(part) as Shown
      // parts that offer the same to everyone were checked as the owner
      if (all.of.length === 0 && part !== 'operations') continue
      const { of, others, reasons } = await shown(page, part)
      const offered = closed.includes(part) ? [] : all.of.filter((name) => !refusals.has(name))
      expect([part, of]).toEqual([part, offered])
      if (part === 'operations') {
        const actions = await actionsOf(helper)
        const ofWork = others.filter((name) => name !== 'Export CSV')
        expect(ofWork).toHaveLength(actions.filter(({ allowed }) => allowed).length)
        expect(reasons).toEqual(expect.arrayContaining(actions.flatMap(({ reason }) => reason ?? [])))
      } else {
        const seen = closed.includes(part) ? [] : all.others.filter((name) => !ofOwnUser[part]?.includes(name))
        expect([part, others]).toEqual([part, seen])
      }
      if (!closed.includes(part))
        for (const name of all.of)
          expect(reasons).toEqual(refusals.has(name) ? expect.arrayContaining([refusals.get(name)]) : reasons)
    }
    expect(panel.faults).toEqual([])
  })

  test('let collaborators with manage_dns change a zone, and tell others why they cannot', async () => {
    const { data } = (await owner.call('GET', '/v1/zones')).body
    const offered = async (given: readonly Role[]) => {
      await panel.api.collaborate(helper, site, given)
      const page = await panel.open(helper, `zones/${data[0].id}`)
      await panel.settled(page)
      const buttons = await page.locator('main button').count()
      const text = await page.locator('main').textContent()
      await page.context().close()
      return { buttons, text }
    }
    const without = await offered(roles.filter((role) => role !== 'manage_dns'))
    expect(without.buttons).toBe(0)
    expect(without.text).toContain('You need the role manage_dns on this site for this operation.')
    expect((await offered(['manage_dns'])).buttons).toBeGreaterThan(3)
  })

  test('show the platform to its operator only', async () => {
    const link = (of: Page) => of.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name: 'Platform' })
    const mine = await panel.open(owner, 'sites')
    await link(mine).click()
    await mine.getByText('Nothing is wrong.').waitFor()
    await mine.getByRole('button', { name: 'Check again' }).click()
    await panel.judge(mine)
    await mine.getByRole('tab', { name: 'Accounts' }).click()
    const accounts = mine.getByRole('region', { name: 'Accounts' })
    await accounts.getByRole('row', { name: owner.email }).getByText('Operator').waitFor()
    await accounts.getByRole('row', { name: helper.email }).getByText('created').waitFor()
    await panel.judge(mine)
    await mine.getByRole('tab', { name: 'Hosts and queues' }).click()
    const hosts = mine.getByRole('region', { name: 'Hosts' })
    await hosts.getByRole('cell', { name: 'Silent' }).waitFor()
    await hosts.getByRole('cell', { name: '1 of 1,000,000 sites' }).waitFor()
    await panel.judge(mine)
    await mine.getByRole('tab', { name: 'Processes and limits' }).click()
    await mine.getByText('No process has reported yet.').waitFor()
    await panel.judge(mine)
    await mine.context().close()
    await go(page, '/platform')
    expect(await page.locator('main').textContent()).toContain('Only the operator of this installation')
    await expect.poll(() => page.locator('main table').count()).toBe(0)
    await expect.poll(() => link(page).count()).toBe(0)
    expect(panel.faults).toEqual([])
  })

  test('offer what works on at least one selected site, and explain why the rest is missing', async () => {
    const other = await panel.api.site(owner, 'my-other')
    const offered = async (given: readonly Role[], ofOther: readonly Role[]) => {
      await panel.api.collaborate(helper, site, given)
      await panel.api.collaborate(helper, other, ofOther)
      const page = await panel.open(helper, 'sites')
      for (const name of ['my-shop', 'my-other']) await page.getByLabel(`Select ${name}`).check()
      await panel.settled(page)
      const bar = page.getByRole('region', { name: 'Selected sites' })
      const options = await bar.locator('[data-of]').allTextContents()
      const text = await bar.textContent()
      await page.context().close()
      return { options, text }
    }
    const tags = await offered(['wp_access'], [])
    expect(tags.options).toEqual(['Add tag'])
    expect(tags.text).toContain('need more permissions')
    const both = await offered(['wp_access'], ['update_site_cms_version'])
    expect(both.options).toEqual(['Update WordPress', 'Add tag'])
  })
})
