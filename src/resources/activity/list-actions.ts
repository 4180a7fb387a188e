import Type from 'typebox'
import type { Action } from '../kit/action.ts'
import { endpoint } from '../kit/endpoint.ts'

const Actions = Type.Array(
  Type.Object(
    {
      name: Type.String({ examples: ['site.created'] }),
      description: Type.String({ examples: ['A site was created'] }),
    },
    { title: 'Action' },
  ),
)

const listed = (actions: readonly Action[]) =>
  actions.map(({ name, description }) => ({ name, description })).sort((one, other) => (one.name < other.name ? -1 : 1))

export const listAccountActions = endpoint({
  id: 'listAccountActions',
  method: 'GET',
  path: '/v1/activity/account-actions',
  summary: 'List the actions of the account log',
  description:
    'Returns the actions in alphabetical order. They include the actions of sites, because the account log contains the entries of its sites.',
  access: { account: 'own' },
  response: Actions,

  async handle({ actions }) {
    return listed(actions)
  },
})

export const listSiteActions = endpoint({
  id: 'listSiteActions',
  method: 'GET',
  path: '/v1/activity/site-actions',
  summary: 'List the actions of site logs',
  description: 'Returns the actions in alphabetical order.',
  access: { account: 'own' },
  response: Actions,

  async handle({ actions }) {
    return listed(actions.filter(({ on }) => on === 'site'))
  },
})
