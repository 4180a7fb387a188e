import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { sftpDomain } from '../access/service-names.ts'
import { SiteId } from '../kit/site-id.ts'
import { findSftpUser, type SftpKey, type SftpUser } from './sftp-user.store.ts'

/** The most keys of one user. */
export const MOST_KEYS = 20

export const hasSftpAccess = (held: readonly string[]): boolean => held.includes('sftp_access')

export const UserParams = Type.Object({
  site_id: SiteId,
  username: Type.String({ minLength: 1, maxLength: 100, examples: ['my-first-site_1'] }),
})

export const SftpUserSchema = Type.Object(
  {
    id: Type.Integer(),
    created: Timestamp,
    accessed: Timestamp,
    modified: Timestamp,
    accountId: Type.Integer(),
    sftpDomain: Type.String({ examples: ['sftp.example.com'] }),
    siteId: Type.Integer(),
    siteName: Type.String({ examples: ['my-first-site'] }),
    username: Type.String({ examples: ['my-first-site_1'] }),
    owner: Type.Boolean({ description: 'Id of the account that owns the site' }),
    email: Type.String({ examples: ['owner@example.com'] }),
    sftpPort: Type.Optional(nullable(Type.Integer({ description: 'Null: SFTP is off', examples: [2222] }))),
  },
  { title: 'SftpUser' },
)

/** Query parameter of the list. */
export const includePort = {
  include: Type.Optional(
    oneOf(['port'], { description: 'An addition of Stead. Adds `sftpPort`, where hosts accept connections' }),
  ),
}

export const SftpKeySchema = Type.Object(
  {
    id: Type.Integer(),
    created: Timestamp,
    name: Type.String({ description: 'Comment of the key', examples: ['me@laptop'] }),
    type: Type.String({ examples: ['ssh-ed25519'] }),
    fingerprint: Type.String({ examples: ['SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU'] }),
  },
  { title: 'SftpKey' },
)

export const presentSftpUser = (user: SftpUser, config: Config): Type.Static<typeof SftpUserSchema> => ({
  id: user.id,
  created: timestamp(user.createdAt),
  // A user who never logged in was last active at their creation.
  accessed: timestamp(user.accessedAt ?? user.createdAt),
  modified: timestamp(user.modifiedAt),
  accountId: user.accountId,
  sftpDomain: sftpDomain(config),
  siteId: user.siteId,
  siteName: user.siteName,
  username: user.username,
  owner: user.accountId === user.ownerAccountId,
  email: user.email,
})

export const presentSftpKey = (key: SftpKey): Type.Static<typeof SftpKeySchema> => ({
  id: key.id,
  created: timestamp(key.createdAt),
  name: key.name,
  type: key.type,
  fingerprint: key.fingerprint,
})

/** Returns the user with the port that clients connect to. */
export const presentWithPort = (user: SftpUser, config: Config): Type.Static<typeof SftpUserSchema> => ({
  ...presentSftpUser(user, config),
  sftpPort: config.sftpListen === 'off' ? null : config.sftpListen.port,
})

/** @throws Problem `not_found` */
export async function sftpUserOf(tx: Tx, siteId: number, username: string): Promise<SftpUser> {
  const user = await findSftpUser(tx, siteId, username)
  if (!user) throw notFound()
  return user
}
