import { closest } from '../../platform/closest.ts'
import { credentialsFile, readCredentials } from '../../roles/credentials.ts'
import { Stead } from '../../sdk/index.ts'
import { version } from '../../version.ts'
import { CommandError } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import type { Environment } from './command-context.ts'
import { readProfiles } from './profiles.ts'

/** The API to call, with its credentials. */
export interface Connection {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** The source of these values. */
  readonly from: string
}

/**
 * Finds the connection, in this order: `--profile`, the variables, the profile in use, and the credentials that the
 * first start left in the data folder here.
 * @throws CommandError when none of them exists
 */
export async function findConnection(
  environment: Environment,
  wanted: { readonly profile?: string | undefined; readonly dataDir?: string | undefined } = {},
): Promise<Connection> {
  const { STEAD_API_URL: url, STEAD_CLIENT_ID: clientId, STEAD_CLIENT_SECRET: clientSecret } = environment
  const stored = await readProfiles(environment)
  const name = wanted.profile ?? environment.STEAD_PROFILE
  if (name !== undefined) return ofProfile(stored, name)
  if (clientId && clientSecret && url) return { url, clientId, clientSecret, from: 'STEAD_API_URL and STEAD_CLIENT_ID' }
  if (clientId || clientSecret)
    throw new CommandError('Set STEAD_API_URL, STEAD_CLIENT_ID and STEAD_CLIENT_SECRET together.')
  const dataDir = wanted.dataDir ?? environment.STEAD_DATA_DIR ?? './data'
  if (stored.current !== null && !url && wanted.dataDir === undefined) return ofProfile(stored, stored.current)
  const local = await readCredentials(dataDir)
  if (local) {
    const { client_id, client_secret, api_url } = local
    return { url: url ?? api_url, clientId: client_id, clientSecret: client_secret, from: credentialsFile(dataDir) }
  }
  throw new CommandError(
    `No server selected: neither ${credentialsFile(dataDir)} nor a profile exists. Log in with stead login https://api.example.com`,
  )
}

function ofProfile(
  { profiles }: { profiles: Awaited<ReturnType<typeof readProfiles>>['profiles'] },
  name: string,
): Connection {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!profile) {
    const names = Object.keys(profiles)
    throw new UsageError(
      `Unknown profile ${name}. ${names.length > 0 ? 'To list profiles, run stead profiles' : 'To create one, run stead login'}`,
      closest(name, names),
    )
  }
  return { url: profile.url, clientId: profile.client_id, clientSecret: profile.client_secret, from: `profile ${name}` }
}

export const clientOf = ({ url, clientId, clientSecret }: Connection, retries = 4): Stead =>
  new Stead({ url, clientId, clientSecret, retries, headers: { 'user-agent': `stead-cli/${version}` } })
