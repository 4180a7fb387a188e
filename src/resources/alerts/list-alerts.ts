import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, oneOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { alertsPage, countAlerts } from './alert.store.ts'
import { ALERT_DAYS, AlertSchema, KindField, presentAlert } from './alert.ts'
import { alertSettingsOf } from './alert-settings.store.ts'
import { chosenKinds } from './alert-settings.ts'
import { mutesOfAccount } from './mute.store.ts'
import { isMuted } from './mute.ts'

export const listAlerts = endpoint({
  id: 'listAlerts',
  method: 'GET',
  path: '/v1/alerts',
  summary: 'List alerts',
  description: `Returns one page of the alerts of all sites that you can see, newest first. The operator of the installation also sees its alerts. Alerts are kept for ${ALERT_DAYS} days after their end.`,
  access: { account: 'own' },
  query: Type.Object({
    state: Type.Optional(oneOf(['firing', 'resolved'], { description: 'Only open alerts, or only ended ones' })),
    site_id: Type.Optional(Type.Unsafe<number>({ ...SiteId, description: 'Only alerts of this site' })),
    kind: Type.Optional(KindField),
    bell: Type.Optional(
      Type.Boolean({ description: 'With `true`: only open alerts that your bell shows, without muted ones' }),
    ),
    unread: Type.Optional(Type.Boolean({ description: 'With `true`: only alerts that you have not marked as read' })),
    ...pageQuery,
  }),
  response: Type.Array(AlertSchema),
  paged: true,

  async handle({ tx, caller, now }, { query }) {
    const { accountId } = caller
    const asked = pageOf(query)
    const settings = await alertSettingsOf(tx, accountId)
    const shown = query.bell ? chosenKinds(settings, 'bell') : undefined
    const filter = {
      accountId,
      isOperator: await isOperator(tx, accountId),
      state: query.state,
      siteId: query.site_id,
      kinds: query.kind ? [query.kind].filter((kind) => shown?.includes(kind) ?? true) : shown,
      ...(query.bell && { state: 'firing' as const, unmutedAt: now }),
      ...(query.unread && { newerThan: settings.readTo }),
    }
    const mutes = await mutesOfAccount(tx, accountId, now)
    const alerts = await alertsPage(tx, filter, asked)
    const { readTo } = settings
    const data = alerts.map((alert) => presentAlert(alert, { readTo, isMuted: isMuted(mutes, alert, now) }))
    return reply(data, await besidesOf(asked, alerts, () => countAlerts(tx, filter)))
  },
})
