import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { forgetSignIns, forgetSignInsHourly } from './forget.job.ts'
import { mailLink } from './password/mail-link.job.ts'
import { problems } from './problems.ts'

export const signIns = resource({
  tag: { name: 'Sign-in', description: 'Sign-in to the control panel with passwords, passkeys and codes' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [mailLink, forgetSignIns] },
  schedules: [forgetSignInsHourly],
  problems,
  actions,
})
