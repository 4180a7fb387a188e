import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { disconnectSftpJob } from './disconnect.job.ts'
import { problems } from './problems.ts'
import { deleteSftpOfAccount, deleteSftpUsersOfSite, insertSftpUser } from './sftp-user.store.ts'

export const sftpUsers = resource({
  tag: { name: 'Sftp-users', description: "SFTP access to a site's files: users, passwords, keys and connections" },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [disconnectSftpJob] },
  siteHooks: {
    async ordered(tx, site, { now }) {
      await insertSftpUser(tx, { site, accountId: site.accountId, now })
      return {}
    },
    forgotten: deleteSftpUsersOfSite,
  },
  accountHooks: { forgotten: (tx, { accountId }) => deleteSftpOfAccount(tx, accountId) },
  problems,
  actions,
  events,
})
