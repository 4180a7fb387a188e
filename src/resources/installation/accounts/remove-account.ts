import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import type { Definitions } from '../../../platform/operations/definition.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import {
  deleteRemoval,
  findRemoval,
  insertRemoval,
  normalEmail,
  type Removal,
  setRemovalOperation,
} from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { accountToChange, changeSuspension } from './change-suspension.ts'
import { AccountOfInstallation, presentAccount } from './present-account.ts'
import { blockersOf } from './removal-report.ts'
import { removeAccountJob } from './remove-account.job.ts'

const USUAL_DAYS = 7
const MOST_DAYS = 30

export const removeAccount = endpoint({
  id: 'removeAccount',
  method: 'POST',
  path: '/v1/installation/accounts/{id}/removal',
  summary: 'Remove an account',
  description:
    'An addition of Stead. Suspends the account at once, and deletes it with everything that `GET` lists after `keep_days`. Until then you can cancel the removal, and nothing has changed. ' +
    'To change the number of days, send the request again. The account of the operator cannot be removed.',
  access: { account: 'operator' },
  proof: true,
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  body: Type.Object(
    {
      email: Type.String({
        maxLength: 1000,
        description: 'Address of the account, as a confirmation',
        examples: ['customer@example.com'],
      }),
      keep_days: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MOST_DAYS,
          description: `Days until the deletion begins. 0 begins now. Default: ${USUAL_DAYS}`,
          examples: [USUAL_DAYS],
        }),
      ),
    },
    { title: 'NewAccountRemoval' },
  ),
  response: AccountOfInstallation,
  starts: true,
  problems: [
    problems.operator_account,
    problems.account_name_differs,
    problems.account_zone_shared,
    problems.account_removal_begun,
  ],

  async handle(context, { params, body }) {
    const { tx, now, definitions } = context
    const before = await cancelWaiting(tx, params.id, { now, definitions })
    const account = await accountToChange(tx, params.id)
    if (account.isFirst) throw new Problem(problems.operator_account, {})
    if (normalEmail(body.email) !== account.email)
      throw new Problem(problems.account_name_differs, { email: account.email })
    for (const blocker of await blockersOf(tx, account)) throw blocker
    const current = await findRemoval(tx, account.id)
    // Of two requests at the same moment, the other one has decided.
    if (current && current.id !== before?.id) return presentAccount(account)
    if (current) await deleteRemoval(tx, current.id)
    const begunAt = current?.begunAt ?? null
    const days = begunAt === null ? (body.keep_days ?? USUAL_DAYS) : 0
    const dueAt = now + days * DAY_MS
    const wasSuspended = current ? current.wasSuspended : account.suspendedAt !== null
    const removalId = await insertRemoval(tx, { accountId: account.id, wasSuspended, askedAt: now, dueAt, begunAt })
    await changeSuspension(tx, account, now, async () => {})
    const about = { accountId: context.caller.accountId }
    const input = { accountId: account.id, removalId, email: account.email }
    await setRemovalOperation(
      tx,
      removalId,
      await context.start(removeAccountJob, input, { about, afterMs: days * DAY_MS }),
    )
    await context.record({
      action: actions['account.removal_requested'],
      message: `Decided to remove the account ${account.email} ${days === 0 ? 'now' : `in ${days} days`}`,
      about: { accountId: account.id },
    })
    return presentAccount(await accountToChange(tx, account.id))
  },
})

/**
 * Cancels the operation of a removal that waits. The operation is locked before the account, as its worker does.
 * @returns the removal, if there is one. Its operation does not run
 * @throws Problem `account_removal_begun` when its operation runs
 */
export async function cancelWaiting(
  tx: Tx,
  accountId: number,
  { now, definitions }: { readonly now: number; readonly definitions: Definitions },
): Promise<Removal | undefined> {
  const removal = await findRemoval(tx, accountId)
  if (!removal) return undefined
  const operation = removal.operationId === null ? undefined : await findOperation(tx, removal.operationId)
  const hasEnded = operation === undefined || operation.finishedAt !== null
  if (!hasEnded && (await requestCancel(tx, operation.id, now, definitions)) !== 'canceled')
    throw new Problem(problems.account_removal_begun, {})
  return removal
}
