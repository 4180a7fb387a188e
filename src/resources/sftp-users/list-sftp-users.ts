import Type from 'typebox'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { listSftpUsers } from './sftp-user.store.ts'
import { presentSftpUser, SftpUserSchema } from './sftp-user.ts'

export const listSftpUsersOfSite = endpoint({
  id: 'listSftpUsers',
  method: 'GET',
  path: '/v1/sites/{site_id}/ftp',
  summary: "List a site's SFTP users",
  description:
    'Returns the SFTP users of the owner and of each collaborator with the role `sftp_access`, ordered by id.',
  access: { site: 'use SFTP' },
  params: Type.Object({ site_id: SiteId }),
  response: Type.Array(SftpUserSchema),

  handle: async ({ tx, site, config }) =>
    (await listSftpUsers(tx, site.id)).map((user) => presentSftpUser(user, config)),
})
