import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { forgetClientReports } from './client-report.store.ts'
import { closeMonth, closeMonthHourly } from './close-month.job.ts'
import { countDays, countDaysDaily } from './count-days.job.ts'
import { mailClientReport } from './mail/mail-client-report.job.ts'
import { planMails, planMailsOften } from './mail/plan-mails.job.ts'
import { forgetRecipients } from './mail/recipients.store.ts'
import { problems } from './problems.ts'

export const clientReports = resource({
  tag: { name: 'Client-reports', description: 'Monthly reports on a site for the clients of an agency' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: {
    async forgotten(tx, siteId) {
      await forgetClientReports(tx, siteId)
      await forgetRecipients(tx, siteId)
    },
  },
  jobs: { control: [countDays, closeMonth, planMails, mailClientReport] },
  schedules: [countDaysDaily, closeMonthHourly, planMailsOften],
  problems,
  actions,
  events,
})
