import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { besidesOf, oneOf, pageOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { presentUpdate, REPORT_DAYS, SafeUpdateSchema, updateStates } from '../safe-update.ts'
import { countUpdatesSeen, updatesSeen } from './batch.store.ts'

const WithSite = Type.Object(
  {
    ...SafeUpdateSchema.properties,
    site_id: Type.Integer({ examples: [12] }),
    display_name: Type.String({ description: 'Name of the site', examples: ['Shop One'] }),
  },
  { title: 'SafeUpdateOfSite' },
)

export const listAllSafeUpdates = endpoint({
  id: 'listAllSafeUpdates',
  method: 'GET',
  path: '/v1/safe-updates',
  summary: 'List the safe updates of all sites',
  description: `An addition of Stead. Returns one page of the safe updates of the sites that you can see, newest first. Stead deletes them after ${REPORT_DAYS} days.`,
  access: { account: 'own' },
  query: Type.Object({
    state: Type.Optional(oneOf(updateStates)),
    batch_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only those of this safe update of many sites',
        examples: [41],
      }),
    ),
    ...pageQuery,
  }),
  response: Type.Array(WithSite),
  paged: true,

  async handle({ tx, caller: { accountId } }, { query }) {
    const asked = pageOf(query)
    const filter = { accountId, state: query.state, batchId: query.batch_id }
    const updates = await updatesSeen(tx, filter, asked)
    const data = updates.map((update) => ({
      ...presentUpdate(update),
      ...{ site_id: update.siteId, display_name: update.siteName },
    }))
    return reply(data, await besidesOf(asked, updates, () => countUpdatesSeen(tx, filter)))
  },
})
