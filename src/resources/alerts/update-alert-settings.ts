import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { actions, isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { alertSettingsOf, setAlertSettings } from './alert-settings.store.ts'
import { AlertSettingsSchema, presentSettings, settingsFields, withKinds } from './alert-settings.ts'

export const updateAlertSettings = endpoint({
  id: 'updateAlertSettings',
  method: 'PUT',
  path: '/v1/alerts/settings',
  summary: 'Update your alert settings',
  description: 'Send at least one field. A list replaces the one before.',
  access: { account: 'own' },
  body: Type.Object(
    {
      mail: Type.Optional(settingsFields.mail),
      bell: Type.Optional(settingsFields.bell),
      mail_shared_sites: Type.Optional(settingsFields.mail_shared_sites),
    },
    { title: 'AlertSettingsUpdate' },
  ),
  response: AlertSettingsSchema,

  async handle(context, { body }) {
    const { tx, caller } = context
    const { accountId } = caller
    const { mail, bell, mail_shared_sites: isShared } = body
    if (mail === undefined && bell === undefined && isShared === undefined)
      throw invalidInput(['Send at least one of mail, bell, mail_shared_sites'])
    await lockForUpdate(tx, 'accounts', accountId)
    let { choices } = await alertSettingsOf(tx, accountId)
    if (mail) choices = withKinds(choices, 'mail', mail)
    if (bell) choices = withKinds(choices, 'bell', bell)
    await setAlertSettings(tx, accountId, {
      choices: JSON.stringify(choices),
      ...(isShared !== undefined && { mail_shared_sites: isShared ? 1 : 0 }),
    })
    await context.record({ action: actions.settings, message: 'Changed which alerts reach you' })
    return presentSettings(await alertSettingsOf(tx, accountId), await isOperator(tx, accountId))
  },
})
