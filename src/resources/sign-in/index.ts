import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteSignInsOfAccount } from './credentials.store.ts'
import { forgetSignIns, forgetSignInsHourly } from './forget.job.ts'
import { mailLink } from './password/mail-link.job.ts'
import { problems } from './problems.ts'

export const signIns = resource({
  tag: { name: 'Sign-in', description: 'Sign-in to the control panel with passwords, passkeys and codes' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { forgotten: (tx, { accountId }) => deleteSignInsOfAccount(tx, accountId) },
  jobs: { control: [mailLink, forgetSignIns] },
  schedules: [forgetSignInsHourly],
  problems,
  actions,
})
