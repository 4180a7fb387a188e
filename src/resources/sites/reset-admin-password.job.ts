import Type from 'typebox'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { changeOfJob } from '../change.ts'
import type { HostServices } from '../host-services.ts'
import { events } from './actions.ts'
import { runSiteTask } from './run-site-task.ts'
import { findSite } from './site.store.ts'

/** Binds a sealed password to its use. */
export const PASSWORD_PURPOSE = 'administrator password'

/** Sets the password of the site's administrator inside WordPress. */
export const resetAdminPasswordJob = durableWith<HostServices>()({
  name: 'site.reset_admin_password',
  input: Type.Object({ siteId: Type.Integer(), passwordSealed: Type.String() }),
  on: 'host',
  changeableBy: { site: 'administer the CMS' },
  attempts: 2,
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

async function setPassword({ services, input, log }: StepContext<Input, HostServices>): Promise<void> {
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new PermanentFailure('The site is not installed yet')
  const password = services.sealer.open(input.passwordSealed, PASSWORD_PURPOSE)
  const refusal = `WordPress did not set the password of ${site.adminUsername}`
  const login = site.adminUsername
  const { dropIn } = await runSiteTask(services, site.id, 'reset-password', { login, password }, { refusal })
  if (!dropIn) return
  // The site's own object cache knows the old password still. It may be what is broken: then it answers nobody.
  await runSiteTask(services, site.id, 'flush-object-cache', {}).catch((error) =>
    log.warn({ err: error, siteId: site.id }, 'the object cache of a site was not emptied after a new password'),
  )
}
