import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { accountToChange, changeSuspension } from './change-suspension.ts'
import { AccountOfInstallation } from './present-account.ts'

export const suspendAccount = endpoint({
  id: 'suspendAccount',
  method: 'PUT',
  path: '/v1/installation/accounts/{id}/suspend',
  summary: 'Suspend an account',
  description:
    'An addition of Stead. Nobody can sign in to the account, its sessions and access tokens are refused, and visitors of its sites get 480 Temporarily Unavailable. ' +
    'Nothing is deleted: backups, updates and scheduled events of its sites continue, and collaborators still have access to its sites. The account of the operator cannot be suspended.',
  access: { account: 'operator' },
  proof: true,
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: AccountOfInstallation,
  problems: [problems.operator_account],

  async handle(context, { params }) {
    const { tx, now } = context
    const account = await accountToChange(tx, params.id)
    if (account.isFirst) throw new Problem(problems.operator_account, {})
    return changeSuspension(tx, account, now, () =>
      context.record({
        action: actions['account.suspended'],
        message: `Suspended the account ${account.email}`,
        about: { accountId: account.id },
      }),
    )
  },
})
