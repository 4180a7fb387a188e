import { at, type Examples, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getAccount', path: at('/v1/account') },
  { endpoint: 'updateAccount', path: at('/v1/account'), body: () => ({ php_version: '8.2' }) },
  { endpoint: 'listAddons', path: at('/v1/account/addons') },
  { endpoint: 'listAttachedAddons', path: at('/v1/account/addons/attached') },
  { endpoint: 'updateAddons', path: at('/v1/account/addons'), body: () => ({ addon_id: 1, quantity: 1 }) },
]

export const examples: Examples = {
  updateAccount: () => ({ body: { php_version: '8.2' } }),
  updateAddons: () => ({ body: { addon_id: 1, quantity: 2 } }),
}
