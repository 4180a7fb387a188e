import { settings } from '../../config.ts'
import type { HostedSites } from '../../hosting/hosted-sites.ts'
import { sftpHostKey } from '../../hosting/sftp/host-key.ts'
import { SftpServer } from '../../hosting/sftp/sftp-server.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import { createSftpAccess } from '../../resources/sftp-users/sftp-access.ts'
import { CannotListen, listenAlone } from '../free-port.ts'
import type { Ground } from '../part.ts'
import { quotaOf } from './site-disk.ts'
import type { SitePhp } from './site-php.ts'

/** The SFTP server of a host, or none. */
export type Sftp = Pick<SftpServer, 'endOfSite' | 'figures' | 'close'>

const nothing = { connections: 0, logins: 0, refused: { limit: 0, banned: 0, login: 0 } }
const none: Sftp = { endOfSite: async () => 0, figures: () => nothing, async close() {} }

/** All of a site, as its own PHP would say it. */
const EVERYTHING = JSON.stringify({ changed: { all: true, files: true } })

export interface SftpParts {
  readonly hostId: number
  readonly php: Pick<SitePhp, 'changes'>
  readonly sites: HostedSites
}

/** Listens for SFTP clients. @throws CannotListen on an address that somebody has chosen */
export async function openSftp(ground: Ground, { hostId, php, sites }: SftpParts): Promise<Sftp> {
  const { config, database, log } = ground
  const { sftpListen } = config
  if (sftpListen === 'off') return none
  const sftp = new SftpServer({
    hostKey: await sftpHostKey(config.dataDir),
    access: createSftpAccess({ database, hostId }),
    siteById: (siteId) => sites.find(siteId),
    quotaOf: quotaOf(ground),
    keepFreeBytes: keptFromSites(config.diskReserveMb << 20),
    changed: (siteId) => php.changes.take(siteId, EVERYTHING),
    log,
  })
  try {
    await listenAlone(sftp.server, sftpListen, 'STEAD_SFTP_LISTEN')
  } catch (error) {
    await sftp.close()
    const { host, port } = sftpListen
    if (!(error instanceof CannotListen) || `${host}:${port}` !== settings.sftpListen.default) throw error
    log.warn({ reason: error.message }, 'there is no SFTP: its port is in use')
    return none
  }
  const { address, port } = sftp.server.address() as { address: string; port: number }
  log.info({ address, port }, 'SFTP clients can connect')
  return sftp
}
