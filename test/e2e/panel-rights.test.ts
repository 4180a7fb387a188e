/** Every page of a site with every role: what the API would refuse is not offered, and what it would do is. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Role, roles } from '../../src/resources/roles.ts'
import type { Person } from '../support/api.ts'
import { hasChromium } from '../support/chromium.ts'
import { type PanelOverRecords, panelOverRecords } from '../support/panel-over-records.ts'

interface Right {
  readonly operation: string
  readonly field: string | null
  readonly allowed: boolean
  readonly reason: string | null
}

describe.skipIf(!hasChromium)('what the panel offers', () => {
  let panel: PanelOverRecords
  let owner: Person
  let helper: Person
  let site: number
  let ofOwner: Page
  let ofHelper: Page
  const refused: string[] = []
  beforeAll(async () => {
    panel = await panelOverRecords()
    owner = await panel.api.person('owner@example.com')
    helper = await panel.api.person('helper@example.com')
    site = await panel.api.site(owner, 'my-shop')
    await owner.call('POST', `/v1/sites/${site}/notes`, { subject: 'Hello', body: 'x' })
    await panel.api.collaborate(helper, site, [])
    ofOwner = await panel.open(owner, `sites/${site}`)
    ofHelper = await panel.open(helper, `sites/${site}`)
    ofHelper.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url())
    })
  })
  afterAll(() => panel?.close())

  /** Opens a part, and says which operations it offers. */
  async function offeredOn(page: Page, part: string): Promise<Set<string>> {
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#/sites/${site}/${part}`)
    await page.locator(`nav a[href$="/${part}"][aria-current=page], p.quiet`).first().waitFor()
    await panel.settled(page)
    const marks = page.locator('[data-of]')
    return new Set(await marks.evaluateAll((all) => all.map((each) => each.getAttribute('data-of') ?? '')))
  }

  const parts = async (page: Page): Promise<string[]> => {
    const links = page.getByRole('navigation', { name: 'Parts of the site' }).getByRole('link')
    const addresses = await links.evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''))
    return addresses.map((address) => address.split('/').at(-1) as string)
  }

  /** By part, what its owner is offered. */
  const known = new Map<string, Set<string>>()
  test('to the owner: everything, and nothing is left out', async () => {
    await panel.settled(ofOwner)
    for (const part of await parts(ofOwner)) known.set(part, await offeredOn(ofOwner, part))
    expect(known.size).toBeGreaterThan(10)
    expect([...known.values()].flatMap((each) => [...each]).length).toBeGreaterThan(25)
    expect(await ofOwner.getByText(/^Left out/).count()).toBe(0)
  })

  test.each<[string, Role[]]>([['no role', []], ...roles.map((role): [string, Role[]] => [role, [role]])])(
    'to a collaborator with %s: what the API allows, on every page, and no page asks for more',
    async (_, given) => {
      await panel.api.collaborate(helper, site, given)
      const { body } = await helper.call('GET', `/v1/sites/${site}/rights`)
      const rights = body.data as Right[]
      const nameOf = ({ operation, field }: Right) => (field ? `${operation} ${field}` : operation)
      const mayDo = new Set(rights.filter(({ allowed }) => allowed).map(nameOf))
      await ofHelper.goto('about:blank')
      await ofHelper.goto(`${panel.url}/#/sites/${site}/overview`)
      await panel.settled(ofHelper)
      refused.length = 0
      const shown = await parts(ofHelper)
      for (const [part, all] of known) {
        const offered = await offeredOn(ofHelper, part)
        const expected = shown.includes(part) ? [...all].filter((each) => mayDo.has(each)) : []
        expect([part, [...offered].toSorted()]).toEqual([part, expected.toSorted()])
      }
      expect(refused).toEqual([])
    },
  )

  test('what is left out is said, with the words of the API', async () => {
    await panel.api.collaborate(helper, site, [])
    await ofHelper.goto('about:blank')
    await ofHelper.goto(`${panel.url}/#/sites/${site}/overview`)
    await ofHelper.getByText(/^Left out/).click()
    await ofHelper.getByText('You need the role db_admin_access on this site for this operation.').waitFor()
    await ofHelper.goto(`${panel.url}/#/sites/${site}/notes`)
    await ofHelper.getByText('You need the role manage_notes on this site for this operation.').first().waitFor()
    expect(panel.faults).toEqual([])
  })
})
