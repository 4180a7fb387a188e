import { at, type Examples, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { operation: 'getAccount', path: at('/v1/account') },
  { operation: 'updateAccount', path: at('/v1/account'), body: () => ({ php_version: '8.2' }) },
  { operation: 'listAddons', path: at('/v1/account/addons') },
  { operation: 'listAttachedAddons', path: at('/v1/account/addons/attached') },
  { operation: 'updateAddons', path: at('/v1/account/addons'), body: () => ({ addon_id: 1, quantity: 1 }) },
]

export const examples: Examples = {
  updateAccount: () => ({ body: { php_version: '8.2' } }),
  updateAddons: () => ({ body: { addon_id: 1, quantity: 2 } }),
}
