import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { ensureAccount, findAccountByEmail } from '../account/public.ts'
import type { Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { endpoint } from '../kit/endpoint.ts'
import {
  type AccountAccess,
  accountAccess,
  endAccountAccess,
  findAccountAccess,
  putAccountAccess,
} from './account-access.store.ts'
import { actions } from './actions.ts'
import { distinctRoles, EmailField, emailOf, MOST_COLLABORATORS, RolesField } from './collaborator.ts'
import { tellGiven } from './mails.ts'
import { problems } from './problems.ts'

export const updateAccountLevelAccess = endpoint({
  id: 'updateAccountLevelAccess',
  method: 'PUT',
  path: '/v1/collaborators/update-account-level-access',
  summary: "Set a collaborator's account-level access",
  description:
    'With `add_to_all_new`, the collaborator gets `roles` on every new site. With `create_site`, the collaborator can also create sites for the owner. Absent fields keep their values, which are false and no roles for a new address. If both are false, account-level access ends, but the collaborator keeps access to their current sites.',
  access: { account: 'own', scope: 'owner' },
  body: Type.Object({
    email: EmailField,
    add_to_all_new: Type.Optional(Type.Boolean({ examples: [true] })),
    create_site: Type.Optional(Type.Boolean({ examples: [false] })),
    roles: RolesField,
  }),
  response: Type.Object(
    {
      email: Type.String({ examples: ['colleague@example.com'] }),
      add_to_all_new: Type.Boolean({ examples: [true] }),
      create_site: Type.Boolean({ examples: [false] }),
    },
    { title: 'AccountAccess' },
  ),
  problems: [problems.collaborator_is_owner, problems.collaborator_limit_reached, problems.mail_limit_reached],

  async handle(context, { body }) {
    const { tx, caller } = context
    const email = emailOf(body.email)
    if (email === caller.accountEmail) throw new Problem(problems.collaborator_is_owner, { email })
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const account = await findAccountByEmail(tx, email)
    const before = account && (await findAccountAccess(tx, caller.accountId, account.id))
    const createSite = body.create_site ?? before?.createSite ?? false
    const addToAllNew = createSite || (body.add_to_all_new ?? before?.addToAllNew ?? false)
    const roles = body.roles ? distinctRoles(body.roles) : (before?.roles ?? [])
    if (addToAllNew) await giveAccess(context, email, { addToAllNew, createSite, roles })
    // An account that is given nothing gets no invitation.
    else if (account && (await endAccountAccess(tx, caller.accountId, account.id)))
      await context.record({
        action: actions['account.collaborator'],
        message: `Ended the account-level access of ${email}`,
      })
    return { email, add_to_all_new: addToAllNew, create_site: createSite }
  },
})

async function giveAccess(
  context: Context & Recording,
  email: string,
  rights: Pick<AccountAccess, 'addToAllNew' | 'createSite' | 'roles'>,
): Promise<void> {
  const { tx, caller, now } = context
  const { account } = await ensureAccount(tx, email, now)
  const before = await findAccountAccess(tx, caller.accountId, account.id)
  if (before && isSame(before, rights)) return
  if (!before && (await accountAccess(tx, caller.accountId)).length >= MOST_COLLABORATORS)
    throw new Problem(problems.collaborator_limit_reached, { what: 'an account', limit: MOST_COLLABORATORS })
  await putAccountAccess(tx, { ownerAccountId: caller.accountId, accountId: account.id, ...rights })
  const what = `all new sites${rights.createSite ? ', can create sites' : ''}`
  const message = `Gave ${email} account-level access: ${what}, roles ${rights.roles.join(', ') || 'none'}`
  await context.record({ action: actions['account.collaborator'], message })
  if (before) return
  await tellGiven(context, {
    ...{ account, what: `all new sites of ${caller.accountEmail}` },
    on: { ownerId: caller.accountId },
  })
}

const isSame = (before: AccountAccess, rights: Pick<AccountAccess, 'addToAllNew' | 'createSite' | 'roles'>): boolean =>
  before.addToAllNew === rights.addToAllNew &&
  before.createSite === rights.createSite &&
  before.roles.join() === rights.roles.join()
