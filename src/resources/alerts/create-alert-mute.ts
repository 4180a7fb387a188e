import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { sitesWithRights } from '../sites/public.ts'
import { countMutes, insertMute } from './mute.store.ts'
import { MOST_MUTES, MuteSchema, muteKind, presentMute } from './mute.ts'
import { problems } from './problems.ts'

export const createAlertMute = endpoint({
  id: 'createAlertMute',
  method: 'POST',
  path: '/v1/alerts/mutes',
  summary: 'Mute alerts',
  description:
    'Alerts of a site, of a kind, or both no longer reach you by mail, chat or bell. Lists still show them. Webhooks and other people are not affected.',
  access: { account: 'own' },
  body: Type.Object(
    {
      site_id: Type.Optional(nullable(SiteId)),
      kind: muteKind,
      until: Type.Optional(
        nullable(
          Type.String({
            description: 'ISO 8601 time at which the mute ends. Without it: when you delete the mute',
            maxLength: 40,
            examples: ['2099-02-01T08:00:00.000Z'],
          }),
        ),
      ),
    },
    { title: 'NewAlertMute' },
  ),
  response: MuteSchema,
  problems: [problems.mute_limit_reached],

  async handle(context, { body }) {
    const { tx, caller, now } = context
    const { accountId } = caller
    const { site_id: siteId = null, kind = null } = body
    const until = body.until ? Date.parse(body.until) : null
    const faults = [
      until === null || until > now ? '' : 'until: must be a time in the future',
      siteId === null || (await sitesWithRights(tx, accountId, [siteId])).length > 0
        ? ''
        : `site_id: ${siteId} is not a site that you can see`,
      siteId === null && kind === null && until === null ? 'Send at least one of site_id, kind, until' : '',
    ].filter(Boolean)
    if (faults.length > 0) throw invalidInput(faults)
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await countMutes(tx, accountId, now)) >= MOST_MUTES)
      throw new Problem(problems.mute_limit_reached, { limit: MOST_MUTES })
    const mute = await insertMute(tx, accountId, { siteId, kind, until, now })
    await context.record({ action: actions.settings, message: `Muted alerts: mute ${mute.id}` })
    return presentMute(mute)
  },
})
