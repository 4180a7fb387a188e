import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { deleteRemoval, findRemoval } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { accountToChange, changeSuspension } from './change-suspension.ts'
import { AccountOfInstallation, presentAccount } from './present-account.ts'
import { cancelWaiting } from './remove-account.ts'

export const cancelAccountRemoval = endpoint({
  id: 'cancelAccountRemoval',
  method: 'DELETE',
  path: '/v1/installation/accounts/{id}/removal',
  summary: 'Cancel the removal of an account',
  description:
    'An addition of Stead. Possible until the deletion begins. The account is as before: it is resumed, unless it was suspended when you removed it.',
  access: { account: 'operator' },
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: AccountOfInstallation,
  problems: [problems.account_removal_begun],

  async handle(context, { params }) {
    const { tx, now, definitions } = context
    const before = await cancelWaiting(tx, params.id, { now, definitions })
    const account = await accountToChange(tx, params.id)
    const removal = await findRemoval(tx, account.id)
    // Of two requests at the same moment, the other one has decided.
    if (!removal || removal.id !== before?.id) return presentAccount(account)
    if (removal.begunAt !== null) throw new Problem(problems.account_removal_begun, {})
    await deleteRemoval(tx, removal.id)
    if (!removal.wasSuspended) await changeSuspension(tx, account, null, async () => {})
    await context.record({
      action: actions['account.removal_canceled'],
      message: `Canceled the removal of the account ${account.email}`,
      about: { accountId: account.id },
    })
    return presentAccount(await accountToChange(tx, account.id))
  },
})
