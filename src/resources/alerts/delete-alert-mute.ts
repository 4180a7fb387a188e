import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { actions } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { deleteMuteRow } from './mute.store.ts'

export const deleteAlertMute = endpoint({
  id: 'deleteAlertMute',
  method: 'DELETE',
  path: '/v1/alerts/mutes/{id}',
  summary: 'Delete a mute of alerts',
  description: 'From now on, the alerts reach you again.',
  access: { account: 'own' },
  params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, caller } = context
    if (!(await deleteMuteRow(tx, caller.accountId, params.id))) throw notFound()
    await context.record({ action: actions.settings, message: `Deleted the mute ${params.id} of alerts` })
    return null
  },
})
