import { isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { alertSettingsOf } from './alert-settings.store.ts'
import { AlertSettingsSchema, presentSettings } from './alert-settings.ts'

export const getAlertSettings = endpoint({
  id: 'getAlertSettings',
  method: 'GET',
  path: '/v1/alerts/settings',
  summary: 'Get your alert settings',
  description: 'Returns which kinds of alerts reach you, and how.',
  access: { account: 'own' },
  response: AlertSettingsSchema,
  etag: true,

  async handle({ tx, caller }) {
    const { accountId } = caller
    return presentSettings(await alertSettingsOf(tx, accountId), await isOperator(tx, accountId))
  },
})
