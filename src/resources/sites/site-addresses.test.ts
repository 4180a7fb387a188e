import { expect, test } from 'vitest'
import { testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { putDomainRoute, putRoute } from './route.store.ts'
import { addressesOf } from './site-addresses.ts'

test.for(dialects)(
  'the content of a site may speak of what was written into it, and of each of its names with the port of the edge and without ($dialect)',
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
