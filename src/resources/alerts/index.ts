import { resource } from '../kit/resource.ts'
import { forgetAlertsOfAccount, forgetAlertsOfSite } from './alert.store.ts'
import { sendChats, sendChatsOften } from './chat/send-chats.job.ts'
import { events } from './events.ts'
import { forgetOldAlerts, forgetOldAlertsDaily } from './forget-alerts.job.ts'
import { judgeAlerts, judgeAlertsOften } from './judge/judge-alerts.job.ts'
import { problems } from './problems.ts'
import { tellAlerts, tellAlertsOften } from './tell/tell-alerts.job.ts'

export const alerts = resource({
  tag: { name: 'Alerts', description: 'Problems of sites that a person must know of, and whom Stead tells' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: forgetAlertsOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => forgetAlertsOfAccount(tx, accountId) },
  jobs: { control: [judgeAlerts, tellAlerts, sendChats, forgetOldAlerts] },
  schedules: [judgeAlertsOften, tellAlertsOften, sendChatsOften, forgetOldAlertsDaily],
  problems,
  events,
})
