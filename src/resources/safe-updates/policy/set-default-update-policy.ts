import Type from 'typebox'
import { lockForUpdate } from '../../../platform/db/database.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { changedPolicy, changesOf } from './change-policy.ts'
import { policyOfAccount, setPolicyOfAccount } from './policy.store.ts'
import { changeOf, modeField } from './policy.ts'

export const setDefaultUpdatePolicy = endpoint({
  id: 'setDefaultUpdatePolicy',
  method: 'PUT',
  path: '/v1/account/update-policy',
  summary: 'Set the default update policy',
  description:
    'An addition of Stead. Send at least one field. It counts for the sites that you own and that inherit it, and for new sites.',
  access: { account: 'own' },
  body: Type.Object(changeOf(modeField), { title: 'DefaultUpdatePolicyChange' }),
  response: Nothing,

  async handle(context, { body }) {
    const { tx, caller, now } = context
    const { accountId } = caller
    await lockForUpdate(tx, 'accounts', accountId)
    const before = await policyOfAccount(tx, accountId)
    const after = changedPolicy(before, body)
    const changes = changesOf(before, after)
    if (changes === undefined) return null
    await setPolicyOfAccount(tx, accountId, after, now)
    await context.record({ action: actions['update_policy.default_changed'], message: changes })
    return null
  },
})
