import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { addonsOfAccount } from './addon.store.ts'
import { presentAttached } from './addons.ts'

export const AttachedAddons = Type.Array(
  Type.Object({ name: Type.String({ examples: ['1 Site'] }), quantity: Type.Integer() }, { title: 'AttachedAddon' }),
)

export const listAttachedAddons = endpoint({
  id: 'listAttachedAddons',
  method: 'GET',
  path: '/v1/account/addons/attached',
  summary: 'List the add-ons of the account',
  access: { account: 'own' },
  response: AttachedAddons,

  async handle({ tx, caller }) {
    return presentAttached(await addonsOfAccount(tx, caller.accountId))
  },
})
