import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countMutes, mutesOfAccount } from './mute.store.ts'
import { MuteSchema, presentMute } from './mute.ts'

export const listAlertMutes = endpoint({
  id: 'listAlertMutes',
  method: 'GET',
  path: '/v1/alerts/mutes',
  summary: 'List your mutes of alerts',
  description: 'Returns one page of your mutes that have not ended, in order of ID.',
  access: { account: 'own' },
  query: Type.Object(pageQuery),
  response: Type.Array(MuteSchema),
  paged: true,

  async handle({ tx, caller, now }, { query }) {
    const asked = pageOf(query)
    const mutes = await mutesOfAccount(tx, caller.accountId, now, asked)
    return reply(mutes.map(presentMute), await besidesOf(asked, mutes, () => countMutes(tx, caller.accountId, now)))
  },
})
