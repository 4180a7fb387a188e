import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { type Loaded, useLoad } from '../../parts/use-load.ts'

export type SftpUser = components['schemas']['SftpUser']

/** Commands leave out the port that SSH takes without being told. */
const SSH_PORT = 22

/** Returns the command by which a user connects; undefined while SFTP is off. */
export function connectBy(
  program: 'ssh' | 'sftp',
  { username, sftpDomain, sftpPort: port }: SftpUser,
): string | undefined {
  if (typeof port !== 'number') return undefined
  const option = port === SSH_PORT ? '' : `${program === 'ssh' ? '-p' : '-P'} ${port} `
  return `${program} ${option}${username}@${sftpDomain}`
}

/** SFTP users of a site, with the port that they connect to. */
export function useSftpUsers(id: number): Loaded<SftpUser[]> {
  const params = { path: { site_id: id }, query: { include: 'port' as const } }
  return useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ftp', { params })), [id])
}
