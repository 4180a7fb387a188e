import Type from 'typebox'
import { lockForUpdate, type Tx } from '../../../platform/db/database.ts'
import { cancelOperationsOf } from '../../../platform/operations/control.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../../platform/operations/in-batches.ts'
import { deleteAccount, findRemoval, markBegun, setSuspended } from '../../account/public.ts'
import { siteOwner } from '../../backups/public.ts'
import { leaveSites } from '../../collaborators/public.ts'
import type { AccountHooks, LeavingAccount } from '../../kit/account-hooks.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import { removeSitesOf, touchRoutesOfAccount } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { peopleOf, siteIdsOf } from './account-people.store.ts'

const Input = Type.Object({ accountId: Type.Integer(), removalId: Type.Integer(), email: Type.String() })
type Input = Type.Static<typeof Input>
type Services = Pick<ControlServices, 'database' | 'definitions' | 'backups' | 'accountHooks'>
type Context<Results = unknown> = StepContext<Input, Services, Results>
type Begun = { readonly begin: { readonly people: number[] } }

/**
 * Deletes an account for good: its sites with their files and backups, people who only had access to it, and its rows
 * in all tables. The account stays suspended meanwhile. It belongs to the operator, who gets what is kept.
 */
export const removeAccountJob = durableWith<Services>()({
  name: 'account.remove',
  input: Input,
  on: 'control',
  changeableBy: 'account',
  mustEnd: true,
  // It waits for hosts.
  atOnce: 2,
  steps: {
    begin: { commit: begin },
    sites: { run: (context: Context) => removeSitesOf(context, context.input.accountId), weight: 10 },
    shares: { run: (context: Context) => leaveSites(context, context.input.accountId) },
    backups: { run: removeBackups, weight: 3 },
    people: { run: removePeople },
    logs: { run: emptyLogs, weight: 2 },
    records: { commit: removeRecords },
  },
  failed: recordFailure,
})

/** From here on the removal cannot be canceled. Its people are noted, as they lose their access with the sites. */
async function begin(tx: Tx, { input, now }: Context): Promise<{ people: number[] }> {
  await lockForUpdate(tx, 'accounts', input.accountId)
  const removal = await findRemoval(tx, input.accountId)
  if (removal?.id !== input.removalId) throw new PermanentFailure('The removal was canceled')
  await markBegun(tx, removal.id, now())
  await setSuspended(tx, input.accountId, now())
  await touchRoutesOfAccount(tx, input.accountId)
  return { people: (await peopleOf(tx, input.accountId)).map(({ id }) => id) }
}

/** The rows that led to the content are gone with the sites. */
async function removeBackups({ services, input, signal, progress }: Context): Promise<void> {
  const siteIds = await siteIdsOf(services.database.read, input.accountId)
  for (const [index, siteId] of siteIds.entries()) {
    signal.throwIfAborted()
    await services.backups.removeOwner(siteOwner(siteId))
    progress((index + 1) / siteIds.length)
  }
}

/** Deletes the accounts of those who had access to this account, and to nothing else. */
async function removePeople(context: Context<Begun>): Promise<void> {
  const { transaction, signal, services, results } = context
  for (const id of results.begin.people) {
    signal.throwIfAborted()
    await transaction(async (tx) => {
      await lockForUpdate(tx, 'accounts', id)
      const [person] = await peopleOf(tx, context.input.accountId, [id])
      if (!person?.isLeaving) return
      // Such as the mail with their invitation.
      await cancelOperationsOf(tx, id, context.now(), services.definitions)
      await forget(tx, services.accountHooks, leavingOf(context, id, person.email))
      const message = `Removed the account ${person.email}, which only had access to ${context.input.email}`
      await changeOfJob(tx, context).record({ action: actions['account.removed'], message })
    })
  }
}

async function emptyLogs(context: Context): Promise<void> {
  const leaving = leavingOf(context)
  for (const { emptied } of context.services.accountHooks)
    if (emptied) await inBatches(context, (tx) => emptied(tx, leaving, BATCH))
}

async function removeRecords(tx: Tx, context: Context): Promise<void> {
  const leaving = leavingOf(context)
  await lockForUpdate(tx, 'accounts', leaving.accountId)
  await forget(tx, context.services.accountHooks, leaving)
  const message = `Removed the account ${leaving.email}`
  await changeOfJob(tx, context).record({ action: actions['account.removed'], message })
}

const leavingOf = (
  { input, accountId: heirId, now }: Pick<Context, 'input' | 'accountId' | 'now'>,
  accountId = input.accountId,
  email = input.email,
): LeavingAccount => ({ accountId, email, heirId: heirId as number, now: now() })

/** Deletes an account without sites, and all that refers to it. */
async function forget(tx: Tx, hooks: readonly AccountHooks[], leaving: LeavingAccount): Promise<void> {
  for (const { forgotten } of hooks) await forgotten?.(tx, leaving)
  for (const { emptied } of hooks) while (emptied && (await emptied(tx, leaving, BATCH)) > 0);
  await deleteAccount(tx, leaving.accountId)
}

async function recordFailure(tx: Tx, context: FailureContext<Input>): Promise<void> {
  if (context.canceled) return
  const message = `Removing the account ${context.input.email} failed: ${context.error}`
  await changeOfJob(tx, context).record({ action: actions['account.removal_failed'], message })
}
