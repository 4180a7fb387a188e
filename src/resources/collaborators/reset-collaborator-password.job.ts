import Type from 'typebox'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { findAccount } from '../account/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, forgetOldPassword, runSiteTask, events as siteEvents } from '../sites/public.ts'
import { findMembership, setWpUsername } from './collaborator.store.ts'
import { hasWpAccess } from './collaborator.ts'

/** Binds a sealed password to its use. */
export const COLLABORATOR_PASSWORD_PURPOSE = 'collaborator password'

/** Sets the password of a collaborator's user in WordPress, and creates a missing user. */
export const resetCollaboratorPasswordJob = durableWith<HostServices>()({
  name: 'collaborator.reset_password',
  input: Type.Object({ siteId: Type.Integer(), accountId: Type.Integer(), passwordSealed: Type.String() }),
  on: 'host',
  changeableBy: { site: 'reset collaborator passwords' },
  attempts: 2,
  secret: async (_tx, { passwordSealed }) => ({ sealed: passwordSealed, purpose: COLLABORATOR_PASSWORD_PURPOSE }),
  steps: {
    password: { run: setPassword },
    record: {
      async commit(tx, context) {
        const { input, results } = context
        const { login } = results.password
        await setWpUsername(tx, input.siteId, input.accountId, login)
        await changeOfJob(tx, context).tell({ type: siteEvents.wp_admin_password_reset, data: { login } })
      },
    },
  },
})

type Input = { siteId: number; accountId: number; passwordSealed: string }

async function setPassword(context: StepContext<Input, HostServices>): Promise<{ login: string }> {
  const { services, input, log, operationId } = context
  const { read } = services.database
  const [site, account] = [await findSite(read, input.siteId), await findAccount(read, input.accountId)]
  const member = await findMembership(read, input.siteId, input.accountId)
  // Access was removed while this waited its turn.
  if (!site || !account || !member || !hasWpAccess(member.roles))
    throw new PermanentFailure('The collaborator no longer has access to WordPress')
  const password = await services.openSecret(operationId)
  const { email, name } = account
  const person = { email, name, login: member.wpUsername, password }
  const set = await runSiteTask(services, site.id, 'reset-administrator', person)
  await forgetOldPassword({ services, log }, site.id, set)
  return { login: set.login }
}
