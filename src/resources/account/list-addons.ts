import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { addons } from './addons.ts'

export const listAddons = endpoint({
  id: 'listAddons',
  method: 'GET',
  path: '/v1/account/addons',
  summary: 'List the available add-ons',
  access: { account: 'own' },
  response: Type.Array(
    Type.Object(
      {
        id: Type.Integer(),
        name: Type.String({ examples: ['1 Site'] }),
        unitAllocation: Type.Integer({ description: 'What one unit adds' }),
        priceInCents: Type.Integer({ examples: [1500] }),
      },
      { title: 'Addon' },
    ),
  ),

  async handle() {
    return addons.map(({ id, name, unitAllocation, priceInCents }) => ({ id, name, unitAllocation, priceInCents }))
  },
})
