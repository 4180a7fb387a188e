import { expect, test } from 'vitest'
import { testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { deleteDomainRoute, putDomainRoute, putRoute } from './route.store.ts'
import { addressesOf } from './site-addresses.ts'

test.for(dialects)(
  'a site’s content may use its written address and each of its names, with and without the edge’s port ($dialect)',
  async ({ dialect, skip }, context) => {
    if (skip) return context.skip()
    const api = await testApi(dialect, { settings: { STEAD_EDGE_PUBLIC_PORT: '8081' } })
    context.onTestFinished(() => api.close())
    const owner = await api.person('owner@example.com')
    const [id, other] = [await api.site(owner, 'shop'), await api.site(owner, 'other')]
    await api.database.transaction(async (tx) => {
      await putRoute(tx, id, 'shop.localhost', 1)
      await putDomainRoute(tx, id, 'shop.example.com', 1)
      await putRoute(tx, other, 'other.localhost', 1)
    })
    const addresses = () => addressesOf(api.database.read, { id, name: 'shop' }, api.config)
    const expected = ['shop.localhost:8081', 'shop.localhost', 'shop.example.com', 'shop.example.com:8081']
    expect((await addresses()).sort()).toEqual(expected.sort())
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ written_address: 'old.example.com' }).where('id', '=', id).execute(),
    )
    expect((await addresses()).sort()).toEqual([...expected, 'old.example.com'].sort())
  },
)

test.for(dialects)(
  'removing a domain from a site keeps its others, and those of other sites ($dialect)',
  async ({ dialect, skip }, context) => {
    if (skip) return context.skip()
    const api = await testApi(dialect)
    context.onTestFinished(() => api.close())
    const owner = await api.person('owner@example.com')
    const [id, other] = [await api.site(owner, 'shop'), await api.site(owner, 'other')]
    await api.database.transaction(async (tx) => {
      await putRoute(tx, id, 'shop.localhost', 1)
      for (const name of ['a.example.com', 'b.example.com']) await putDomainRoute(tx, id, name, 1)
      await putDomainRoute(tx, other, 'c.example.com', 1)
      for (const name of ['a.example.com', 'c.example.com', 'shop.localhost']) await deleteDomainRoute(tx, id, name)
    })
    const names = api.database.read.selectFrom('routes').select('host_name').orderBy('host_name')
    expect((await names.execute()).map((row) => row.host_name)).toEqual([
      ...['b.example.com', 'c.example.com', 'shop.localhost'],
    ])
  },
)
