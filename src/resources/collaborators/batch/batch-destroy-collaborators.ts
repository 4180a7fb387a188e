import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { findAccountByEmail } from '../../account/public.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { sourceOfRequest } from '../../kit/source-of-request.ts'
import { EmailField, emailOf, SiteIdsField } from '../collaborator.ts'
import { countOf } from '../mails.ts'
import { batchDestroy } from './batch.job.ts'

export const batchDestroyCollaborators = endpoint({
  id: 'batchDestroyCollaborators',
  method: 'POST',
  path: '/v1/collaborators/batch_destroy',
  summary: 'Remove a collaborator from many sites',
  description:
    'Use `-1` in `siteIds` for all sites that you own. With `delete_wp_user`, Stead also deletes the WordPress user and gives its posts to the oldest administrator. The `results` of the operation contain the outcome for each site.',
  access: { sites: ['remove collaborators', 'change many sites at once'], all: 'owned' },
  body: Type.Object({
    email: EmailField,
    siteIds: SiteIdsField,
    delete_wp_user: Type.Optional(Type.Boolean({ description: 'Default: false', examples: [false] })),
  }),
  response: Nothing,
  starts: true,
  problems: [authenticationProblems.forbidden],

  async handle(context, { body }) {
    const { tx, caller, request, sites } = context
    const email = emailOf(body.email)
    const account = await findAccountByEmail(tx, email)
    const message = `Scheduled: remove the collaborator from ${countOf(sites.length, 'site')}.`
    if (sites.length === 0) return reply(null, { message })
    const siteIds = sites.map(({ id }) => id)
    const input = { email, accountId: account?.id ?? null, siteIds, deletesWpUser: body.delete_wp_user ?? false }
    await context.start(batchDestroy, input, { source: sourceOfRequest(caller, request) })
    return reply(null, { message })
  },
})
