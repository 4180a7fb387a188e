import Type from 'typebox'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { events } from '../actions.ts'
import { findSite } from '../site.store.ts'
import { forgetOldPassword } from './forget-old-password.ts'
import { runSiteTask } from './run-site-task.ts'

/** Binds a sealed password to its use. */
export const PASSWORD_PURPOSE = 'administrator password'

/** Sets the password of the site's administrator inside WordPress. */
export const resetAdminPasswordJob = durableWith<HostServices>()({
  name: 'site.reset_admin_password',
  input: Type.Object({ siteId: Type.Integer(), passwordSealed: Type.String() }),
  on: 'host',
  changeableBy: { site: 'administer the CMS' },
  attempts: 2,
  secret: async (_tx, { passwordSealed }) => ({ sealed: passwordSealed, purpose: PASSWORD_PURPOSE }),
  steps: {
    password: { run: setPassword },
    record: {
      async commit(tx, context) {
        await changeOfJob(tx, context).tell({ type: events.wp_admin_password_reset, data: {} })
      },
    },
  },
})

type Input = { siteId: number; passwordSealed: string }

async function setPassword({ services, input, log, operationId }: StepContext<Input, HostServices>): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new PermanentFailure('The site is not installed yet')
  const password = await services.openSecret(operationId)
  const refusal = `WordPress did not set the password of ${site.adminUsername}`
  const login = site.adminUsername
  const set = await runSiteTask(services, site.id, 'reset-password', { login, password }, { refusal })
  await forgetOldPassword({ services, log }, site.id, set)
}
