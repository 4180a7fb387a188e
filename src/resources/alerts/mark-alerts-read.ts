import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { newestAlert } from './alert.store.ts'
import { alertSettingsOf, setAlertSettings } from './alert-settings.store.ts'

export const markAlertsRead = endpoint({
  id: 'markAlertsRead',
  method: 'POST',
  path: '/v1/alerts/read',
  summary: 'Mark alerts as read',
  description: 'Marks an alert and all older ones as read. Other people are not affected.',
  access: { account: 'own' },
  body: Type.Object(
    {
      up_to: Type.Integer({
        description: 'ID of the newest alert that you have seen',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        examples: [31],
      }),
    },
    { title: 'AlertsRead' },
  ),
  response: Nothing,

  async handle({ tx, caller }, { body }) {
    const { accountId } = caller
    await lockForUpdate(tx, 'accounts', accountId)
    const { readTo } = await alertSettingsOf(tx, accountId)
    // A number from the future would hide alerts that nobody has seen.
    const upTo = Math.min(body.up_to, await newestAlert(tx))
    if (upTo > readTo) await setAlertSettings(tx, accountId, { read_to: upTo })
    return null
  },
})
