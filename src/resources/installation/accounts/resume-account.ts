import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { accountToChange, changeSuspension } from './change-suspension.ts'
import { AccountOfInstallation } from './present-account.ts'

export const resumeAccount = endpoint({
  id: 'resumeAccount',
  method: 'PUT',
  path: '/v1/installation/accounts/{id}/resume',
  summary: 'Resume a suspended account',
  description:
    'An addition of Stead. Its people can sign in again, its credentials are accepted, and visitors get its sites. Sites that were disabled before stay disabled.',
  access: { account: 'operator' },
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: AccountOfInstallation,
  problems: [problems.account_removal_waits],

  async handle(context, { params }) {
    const { tx } = context
    const account = await accountToChange(tx, params.id)
    if (account.removal) throw new Problem(problems.account_removal_waits, {})
    return changeSuspension(tx, account, null, () =>
      context.record({
        action: actions['account.resumed'],
        message: `Resumed the account ${account.email}`,
        about: { accountId: account.id },
      }),
    )
  },
})
