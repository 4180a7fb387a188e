import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { ensureAccount } from './account.ts'
import { capacityOf } from './addons.ts'
import { planNamed } from './plans.ts'

test('add-ons of sites raise both limits of a plan, and others do not', () => {
  const plan = planNamed('Personal')
  expect(capacityOf(plan, [])).toEqual(plan)
  const attached = [
    { addonId: 1, quantity: 2 },
    { addonId: 8, quantity: 1 },
    { addonId: 11, quantity: 3 },
    { addonId: 999, quantity: 5 },
  ]
  expect(capacityOf(plan, attached)).toEqual({ ...plan, maxBillable: 3 + 12, maxStaging: 4 + 12 })
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`account on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('Owner@example.com'.toLowerCase())
    })
    afterAll(() => api?.close())

    const read = async (who: Person) => (await who.call('GET', '/v1/account')).body.data
    const actions = async (who: Person) => (await read(who)).recent_activity.map(({ name }: { name: string }) => name)
    const create = (who: Person, name: string, more: object = {}) => who.call('POST', '/v1/sites', { name, ...more })
    const setAddon = (who: Person, addon_id: number, quantity: number) =>
      who.call('PUT', '/v1/account/addons', { addon_id, quantity })

    test('two simultaneous invitations create one account, in one of the requests', async () => {
      const pairs = Array.from({ length: 20 }, async (_, number) => {
        const ensure = () => api.database.transaction((tx) => ensureAccount(tx, `both-${number}@example.com`, 1))
        const [one, other] = await Promise.all([ensure(), ensure()])
        expect(one.account).toEqual(other.account)
        expect([one.isNew, other.isNew].sort()).toEqual([false, true])
      })
      await Promise.all(pairs)
    })

    test('200 returns all fields', async () => {
      const { status, headers, body } = await owner.call('GET', '/v1/account')
      expect([status, body.message, body.errors]).toEqual([200, 'Success', null])
      expect(headers.etag).toBeDefined()
      const views = { people: 0, views: 0 }
      expect(body.data).toEqual({
        affiliate: false,
        collaboratorCount: 0,
        email: 'owner@example.com',
        gravatar: `https://www.gravatar.com/avatar/${hash('sha256', 'owner@example.com', 'hex')}?d=mp`,
        name: 'owner',
        organization: '',
        pageViews: {
          allTime: views,
          lastTwoYearsIsAllTime: views,
          currentMonth: views,
          lastMonth: views,
          today: views,
          twoMonthsAgo: views,
          yesterday: views,
        },
        phoneNumber: '',
        preview: false,
        productName: 'High Traffic',
        defaultPhpVersion: '8.3',
        defaultDatacenter: null,
        maxSites: 401,
        sitesCount: 0,
        capacity: { sites: { maxBillable: 200, maxStaging: 201, billable: 0, staging: 0, total: 0 } },
        recent_activity: [],
      })
      expect((await api.call('GET', '/v1/account')).status).toBe(401)
    })

    test('200 counts sites and collaborators, a person on two sites once, and no deleted site', async () => {
      const counted = await api.person('counted@example.com')
      const first = (await create(counted, 'count-one')).body.data.id
      const second = (await create(counted, 'count-two', { staging: true })).body.data.id
      const third = (await create(counted, 'count-three')).body.data.id
      for (const site of [first, second])
        await counted.call('POST', `/v1/sites/${site}/collaborators`, { email: 'helper@example.com', roles: [] })
      await counted.call('POST', `/v1/sites/${third}/collaborators`, { email: 'past@example.com', roles: [] })
      await counted.call('DELETE', `/v1/sites/${third}`)
      const account = await read(counted)
      expect(account).toMatchObject({
        collaboratorCount: 1,
        sitesCount: 2,
        capacity: { sites: { billable: 1, staging: 1, total: 2 } },
      })
      expect(account.recent_activity.map(({ name }: { name: string }) => name)).toEqual([
        'site.deleted',
        'account.collaborator',
        'account.collaborator',
        'account.collaborator',
        'site.created',
        'site.created',
        'site.created',
      ])
      const helper = await api.person('helper@example.com')
      expect(await read(helper)).toMatchObject({
        sitesCount: 0,
        collaboratorCount: 0,
        recent_activity: [{ name: 'created', message: 'Created the account helper@example.com by invitation' }],
      })
    })

    test('200 returns the 10 newest entries as recent', async () => {
      const busy = await api.person('busy@example.com')
      for (let time = 0; time < 12; time++)
        await busy.call('PUT', '/v1/account', { php_version: time % 2 ? '8.3' : '8.2' })
      const { recent_activity: recent } = await read(busy)
      expect(recent).toHaveLength(10)
      expect(recent[0]).toMatchObject({ name: 'settings', accountEmail: busy.email, source: 'api.v1' })
      expect(recent[0].id).toBeGreaterThan(recent[9].id)
    })

    test('200 defaults: sets either or both, and null clears; new sites use them, and existing ones stay', async () => {
      const person = await api.person('defaults@example.com')
      const put = async (body: object) => {
        const { status, body: answer } = await person.call('PUT', '/v1/account', body)
        expect([status, answer.data]).toEqual([200, null])
        const { defaultPhpVersion, defaultDatacenter } = await read(person)
        return [defaultPhpVersion, defaultDatacenter]
      }
      const before = (await create(person, 'before-defaults')).body.data
      expect(await put({ php_version: '8.1' })).toEqual(['8.1', null])
      expect(await put({ datacenter_code: 'DFW' })).toEqual(['8.1', 'DFW'])
      expect(await put({ php_version: '8.2', datacenter_code: 'BUR' })).toEqual(['8.2', 'BUR'])
      const after = (await create(person, 'after-defaults')).body.data
      expect([after.phpVersion, after.datacenterCode]).toEqual(['8.2', 'BUR'])
      const asked = (await create(person, 'asked-for', { php_version: '8.3', datacenter_code: 'DCA' })).body.data
      expect([asked.phpVersion, asked.datacenterCode]).toEqual(['8.3', 'DCA'])
      expect((await person.call('GET', `/v1/sites/${before.id}`)).body.data.phpVersion).toBe('8.3')
      expect(await put({ datacenter_code: null })).toEqual(['8.2', null])
      const count = (await read(person)).recent_activity.length
      await put({ datacenter_code: null, php_version: '8.2' })
      expect((await read(person)).recent_activity).toHaveLength(count)
    })

    test('400 for no default, and for unknown values', async () => {
      const errors = async (body: object) => {
        const { status, body: answer } = await owner.call('PUT', '/v1/account', body)
        expect(status).toBe(400)
        return answer.errors
      }
      expect(await errors({})).toEqual(['Send at least one of php_version, datacenter_code'])
      expect(await errors({ php_version: null })).toEqual(['Send at least one of php_version, datacenter_code'])
      expect(await errors({ php_version: '7.4' })).toEqual(['php_version: must be one of 8.1, 8.2, 8.3'])
      expect(await errors({ datacenter_code: 'XXX' })).toEqual(['datacenter_code: must be one of AMS, BUR, DCA, DFW.'])
    })

    test('200 returns the catalog of add-ons', async () => {
      const { body } = await owner.call('GET', '/v1/account/addons')
      expect(body.data).toEqual([
        { id: 1, name: '1 Site', unitAllocation: 1, priceInCents: 1500 },
        { id: 4, name: '5 Sites', unitAllocation: 5, priceInCents: 5000 },
        { id: 8, name: '10 Sites', unitAllocation: 10, priceInCents: 7500 },
        { id: 11, name: '100K Site Visits', unitAllocation: 100_000, priceInCents: 8000 },
        { id: 12, name: 'Storage', unitAllocation: 1, priceInCents: 50 },
      ])
    })

    test('200 add-ons: the quantity is the total, and capacity and new sites follow', async () => {
      const person = await api.person('addons@example.com', { plan: 'Personal' })
      for (const name of ['addon-1', 'addon-2', 'addon-3']) expect((await create(person, name)).status).toBe(201)
      const refused = await create(person, 'addon-4')
      expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringContaining('3 live sites')])
      expect((await setAddon(person, 1, 1)).body.data).toEqual([{ name: '1 Site', quantity: 1 }])
      expect((await read(person)).capacity.sites).toMatchObject({ maxBillable: 4, maxStaging: 5, billable: 3 })
      expect((await read(person)).maxSites).toBe(9)
      expect((await create(person, 'addon-4')).status).toBe(201)
      expect((await create(person, 'addon-5')).status).toBe(400)
      await setAddon(person, 12, 7)
      expect((await setAddon(person, 1, 3)).body.data).toEqual([
        { name: '1 Site', quantity: 3 },
        { name: 'Storage', quantity: 7 },
      ])
      expect((await create(person, 'addon-5')).status).toBe(201)
      expect((await person.call('GET', '/v1/account/addons/attached')).body.data).toHaveLength(2)

      // There are 5 live sites, 2 more than the plan has.
      const inUse = await setAddon(person, 1, 1)
      expect(inUse.status).toBe(400)
      expect(inUse.body.errors).toEqual([
        'quantity: 1 of the add-on 1 Site allows 4 live and 5 staging sites, but the account has 5 and 0. Delete sites first.',
      ])
      expect((await setAddon(person, 1, 0)).status).toBe(400)
      expect((await setAddon(person, 1, 2)).status).toBe(200)
      expect((await setAddon(person, 4, 1)).status).toBe(200)
      expect((await setAddon(person, 1, 0)).body.data).toEqual([
        { name: '5 Sites', quantity: 1 },
        { name: 'Storage', quantity: 7 },
      ])
      expect((await setAddon(person, 12, 0)).body.data).toEqual([{ name: '5 Sites', quantity: 1 }])
      expect((await actions(person)).slice(0, 4)).toEqual([
        'addon.detached',
        'addon.detached',
        'addon.attached',
        'addon.changed',
      ])
      expect((await person.call('GET', '/v1/account/addons/attached')).body.data).toEqual([
        { name: '5 Sites', quantity: 1 },
      ])
      expect((await owner.call('GET', '/v1/account/addons/attached')).body.data).toEqual([])
    })

    test('403 only the operator raises limits, unless the setting allows all, and all accounts lower their own', async () => {
      const strict = await testApi(dialect, { settings: { STEAD_ADDONS: 'operator' } })
      try {
        const [operator, client] = [
          await strict.person('operator@example.com'),
          await strict.person('client@example.com'),
        ]
        const put = (who: Person, quantity: number) => who.call('PUT', '/v1/account/addons', { addon_id: 1, quantity })
        const mayRaise = async (who: Person) => (await who.browse('GET', '/v1/session')).body.data.raises_limits
        expect([await mayRaise(operator), await mayRaise(client)]).toEqual([true, false])
        expect((await put(operator, 2)).status).toBe(200)
        const refused = await put(client, 2)
        expect([refused.status, refused.body.code]).toEqual([403, 'addons_by_operator'])
        expect((await read(client)).capacity.sites.maxBillable).toBe(200)
        await strict.database.transaction((tx) =>
          tx.insertInto('account_addons').values({ account_id: client.accountId, addon_id: 1, quantity: 5 }).execute(),
        )
        expect((await put(client, 4)).status).toBe(200)
        expect((await put(client, 5)).status).toBe(403)
      } finally {
        await strict.close()
      }
    })

    test('400 for an unknown add-on, and an invalid quantity', async () => {
      const errors = async (body: object) => {
        const { status, body: answer } = await owner.call('PUT', '/v1/account/addons', body)
        expect(status).toBe(400)
        return answer.errors
      }
      expect(await errors({})).toEqual(['addon_id: is required', 'quantity: is required'])
      expect(await errors({ addon_id: 2, quantity: 1 })).toEqual(['addon_id: must be one of 1, 4, 8, 11, 12'])
      expect(await errors({ addon_id: 1, quantity: -1 })).toEqual(['quantity: must be at least 0'])
      expect(await errors({ addon_id: 1, quantity: 1e9 })).toEqual(['quantity: must be at most 10000'])
      expect((await setAddon(owner, 1, 0)).body.data).toEqual([])
    })

    test('200 simultaneous changes of sites and add-ons never exceed the limit of the account', async () => {
      const person = await api.person('race@example.com', { plan: 'Personal' })
      await setAddon(person, 1, 1)
      for (const name of ['race-1', 'race-2', 'race-3']) await create(person, name)
      const [made, detached] = await Promise.all([create(person, 'race-4'), setAddon(person, 1, 0)])
      expect([made.status, detached.status].sort()).toSatisfy(
        ([one, other]: number[]) => (one === 201 && other === 400) || (one === 200 && other === 400),
      )
      const { maxBillable, billable } = (await read(person)).capacity.sites
      expect(billable).toBeLessThanOrEqual(maxBillable)
    })
  })
}
