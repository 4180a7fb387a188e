import { resource } from '../kit/resource.ts'
import { removeAccountJob } from './accounts/remove-account.job.ts'
import { actions, events } from './actions.ts'
import { backUpRecordsHourly, backUpRecordsJob } from './back-up-records.job.ts'
import { drainHostJob } from './hosts/drain-host.job.ts'
import { evacuateHosts, evacuateOften } from './hosts/evacuate-hosts.job.ts'
import { rebalanceHostsJob } from './hosts/rebalance-hosts.job.ts'
import { replaceHostJob } from './hosts/replace-host.job.ts'
import { problems } from './problems.ts'
import { recoverSite } from './recover-site.job.ts'
import { receiveFiles, receiveSite } from './relocate/receive-site.job.ts'
import { relocateDeletedJob } from './relocate/relocate-deleted.job.ts'
import { relocateSiteJob } from './relocate/relocate-site.job.ts'
import { removeCopy } from './relocate/remove-copy.job.ts'

/** The installation itself: its health, its backups, and what follows when they are restored. */
export const installation = resource({
  tag: { name: 'Installation', description: 'Health of the installation, for its operator' },
  endpoints: () => import('./endpoints.ts'),
  jobs: {
    control: [backUpRecordsJob, drainHostJob, evacuateHosts, rebalanceHostsJob, removeAccountJob, replaceHostJob],
    host: [recoverSite, relocateSiteJob, relocateDeletedJob, receiveFiles, receiveSite, removeCopy],
  },
  schedules: [backUpRecordsHourly, evacuateOften],
  problems,
  actions,
  events,
})
