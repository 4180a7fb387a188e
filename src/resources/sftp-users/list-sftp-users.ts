import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { listSftpUsers } from './sftp-user.store.ts'
import { includePort, presentSftpUser, presentWithPort, SftpUserSchema } from './sftp-user.ts'

export const listSftpUsersOfSite = endpoint({
  id: 'listSftpUsers',
  method: 'GET',
  path: '/v1/sites/{site_id}/ftp',
  summary: "List a site's SFTP users",
  description:
    'Returns the SFTP users of the owner and of each collaborator with the role `sftp_access`, ordered by id.',
  access: { site: 'use SFTP' },
  params: Type.Object({ site_id: SiteId }),
  query: Type.Object(includePort),
  response: Type.Array(SftpUserSchema),

  async handle({ tx, site, config }, { query }) {
    const present = query.include ? presentWithPort : presentSftpUser
    return (await listSftpUsers(tx, site.id)).map((user) => present(user, config))
  },
})
