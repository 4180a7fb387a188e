import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { listLiveApplications, makeApplication } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { applicationFields, MOST_APPLICATIONS, presentApplication } from './application.ts'
import { problems } from './problems.ts'

export const createApplication = endpoint({
  id: 'createApplication',
  method: 'POST',
  path: '/v1/applications',
  summary: 'Create an API application',
  description:
    'Returns a client id and a secret for `POST /auth/token`. Save the secret: Stead does not show it again.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  body: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$', examples: ['Deploy bot'] }),
    owner: Type.Optional(Type.Boolean({ description: 'Whether its tokens have the scope `owner`. Default: false' })),
  }),
  response: Type.Object(
    { ...applicationFields, client_secret: Type.String({ examples: ['hV3n0kq2m8Zs6xJ9w1b4'] }) },
    { title: 'NewApplication' },
  ),
  problems: [problems.application_limit_reached],

  async handle(context, { body }) {
    const { tx, caller, now } = context
    const { accountId } = caller
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await listLiveApplications(tx, accountId)).length >= MOST_APPLICATIONS)
      throw new Problem(problems.application_limit_reached, { limit: MOST_APPLICATIONS })
    const made = await makeApplication(tx, { accountId, name: body.name, isOwner: body.owner ?? false, now })
    const message = `Created the API application ${body.name}${made.isOwner ? ' with the scope owner' : ''}`
    await context.record({ action: actions['application.created'], message })
    return { ...presentApplication(made), client_secret: made.clientSecret }
  },
})
