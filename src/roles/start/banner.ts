import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { localDomainOf } from '../../certificates/local-domain.ts'
import type { Config } from '../../config.ts'
import { isOnServer } from '../../hosting/site-database/database-kind.ts'
import { domainSharedWithSites } from '../../resources/access/reserved-names.ts'
import { version } from '../../version.ts'
import { credentialsFile, type OwnerCredentials, readCredentials, urlOf } from '../credentials.ts'
import { reachableHost } from '../listeners.ts'

const SSH_PATIENCE_MS = 2000

/** The facts that a new user needs once Stead runs. */
export interface FirstWords {
  readonly credentials: OwnerCredentials | undefined
  readonly hosts: readonly {
    readonly wordpress?: string
    readonly reason?: string
    readonly containment?: object
    readonly databases?: object
  }[]
  /** Whether Stead's SSH server answers at `sftpListen`. */
  readonly hasSsh: boolean
}

type Hosts = FirstWords['hosts']

/** Waits until the API reports that it is ready. Rejects when the signal fires. */
export async function untilReady(config: Config, signal: AbortSignal): Promise<FirstWords> {
  for (;;) {
    const hosts = await readyHosts(await apiUrl(config), signal).catch(() => undefined)
    if (hosts)
      return { credentials: await readCredentials(config.dataDir), hosts, hasSsh: await answersSsh(config, signal) }
    await pause(100, undefined, { signal })
  }
}

/** Returns the URL of the API. With a port that the system chose, only the file of the first account contains it. */
async function apiUrl({ apiListen: { host, port }, dataDir }: Config): Promise<string> {
  if (port === 0) return (await readCredentials(dataDir))?.api_url ?? ''
  return urlOf({ host, port })
}

/** Returns whether a host reported facts. Only the state is known of a host that does not run. */
const isTold = ({ wordpress }: Hosts[number]): boolean => wordpress !== undefined

/** Avoids `fetch`, because the supervisor lives as long as Stead, and `fetch` would cost it 20 MB for one request. */
async function readyHosts(url: string, signal: AbortSignal): Promise<Hosts | undefined> {
  return new Promise((resolve, reject) => {
    get(`${url}/readyz`, { signal, agent: false }, (response) => {
      const body = json(response) as Promise<{ hosts?: Hosts }>
      body.then(({ hosts }) => resolve(response.statusCode === 200 ? (hosts ?? []).filter(isTold) : undefined), reject)
    }).on('error', reject)
  })
}

/** Returns whether Stead's SSH server listens. If the default port is in use, Stead starts without it. */
async function answersSsh({ sftpListen }: Config, signal: AbortSignal): Promise<boolean> {
  if (sftpListen === 'off') return false
  const socket = connect({ host: reachableHost(sftpListen.host), port: sftpListen.port })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SSH_PATIENCE_MS)])
  try {
    return String((await once(socket, 'data', { signal: limit }))[0]).startsWith('SSH-2.0-Stead')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

export interface Reader {
  /** Whether this start created the account. */
  readonly isFirst: boolean
  /** Whether the output is a terminal. Otherwise, it goes to a file or a log that others read, and is kept. */
  readonly isTerminal: boolean
}

/**
 * Returns the lines that a start ends with. Shows the keys of a first account only this once, and only on a terminal.
 */
export function banner(
  config: Config,
  { credentials, hosts, hasSsh }: FirstWords,
  { isFirst, isTerminal }: Reader,
): string {
  const secure = secureApi(config)
  const api = credentials?.api_url ?? `http://${config.apiListen.host}:${config.apiListen.port}`
  const lines = [
    '',
    `Stead ${version} is running`,
    `  API        ${api}${secure === undefined ? '' : `, ${secure}`}  (documentation: ${secure ?? api}/docs)`,
    ...(config.panel === 'on' ? [`  Panel      ${config.panelUrl ?? secure ?? api}  (for people, in a browser)`] : []),
    `  Sites      ${addressOf('<name>', config)}${secureAddressOf('<name>', config)}`,
    ...(hasSsh && config.sftpListen !== 'off'
      ? [`  SSH        port ${config.sftpListen.port} of ${config.sftpListen.host}  (SFTP and WP-CLI of sites)`]
      : []),
    ...hosts.map((each) =>
      each.wordpress
        ? `  WordPress  ${each.wordpress}, PHP ${containmentText(each.containment)}${databasesText(each.databases)}${bubblewrapHint(each.containment)}`
        : `  WordPress  not available yet:\n${indented(each.reason ?? '')}`,
    ),
  ]
  if (!credentials) return `${lines.join('\n')}\n`
  const keys = credentialsFile(resolve(config.dataDir))
  lines.push(`  Account    ${credentials.account_email}  (keys: ${keys})`)
  // Created by a Stead without a panel, so no account has a password.
  if (config.panel === 'on' && credentials.panel_link === undefined)
    lines.push(`  Sign in    to the panel with a link from stead account link --email=${credentials.account_email}`)
  const shared = config.panel === 'on' ? domainSharedWithSites(config) : undefined
  if (shared)
    lines.push(`  Warning    the panel shares ${shared} with customers' sites. Use a separate domain for the panel`)
  if (isFirst)
    lines.push('  Backups    sealed with a separate key. Print it with stead backup key, and keep it in a safe')
  if (!isFirst) return `${lines.join('\n')}\n`
  const canMakeSites = hosts.some(({ wordpress }) => wordpress)
  if (isTerminal) {
    lines.push(`  Keys       client_id ${credentials.client_id}  client_secret ${credentials.client_secret}`)
    if (credentials.panel_link) lines.push(`  Password   for the panel. Set it once at ${credentials.panel_link}`)
  } else if (credentials.panel_link)
    lines.push('  Password   for the panel. Set it once with the panel_link in that file')
  if (!canMakeSites)
    return `${[
      ...lines,
      '',
      'You cannot create a site yet. Stead keeps trying to get WordPress ready.',
      `To check, run curl ${api}/readyz. It shows the status "ready", or what is missing.`,
    ].join('\n')}\n`
  return `${[
    ...lines,
    '',
    'Your first site, in three lines:',
    '',
    `key() { sed -n 's/.*"'$1'": *"\\([^"]*\\)".*/\\1/p' ${inShell(keys)}; }`,
    `TOKEN=$(curl -s ${api}/auth/token -d grant_type=client_credentials -d client_id=$(key client_id) -d client_secret=$(key client_secret) | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl -s ${api}/v1/sites -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"my-first-site"}'`,
    '',
    `Then open ${addressOf('my-first-site', config)}`,
  ].join('\n')}\n`
}

/** Returns the address where the API listens for HTTPS under its own name. */
function secureApi({ apiTlsListen, apiName }: Config): string | undefined {
  if (apiTlsListen === 'off' || apiName === undefined) return undefined
  return `https://${apiName}${apiTlsListen.port === 443 ? '' : `:${apiTlsListen.port}`}`
}

/** Returns the same address as `stagingAddress`, whose import would load many modules for one line. */
function addressOf(name: string, { edgePublicPort, edgeListen, stagingDomain }: Config): string {
  const port = edgePublicPort ?? edgeListen.port
  if (port === 443) return `https://${name}.${stagingDomain}`
  return `http://${name}.${stagingDomain}${port === 80 ? '' : `:${port}`}`
}

/** Returns the address over HTTPS, if it has or will get a certificate, with what a reader must know of that. */
function secureAddressOf(name: string, config: Config): string {
  const { edgeTlsListen, edgeTlsPublicPort, stagingDomain, acmeTermsAgreed } = config
  const isLocal = localDomainOf(config) !== undefined
  if (edgeTlsListen === 'off' || !(isLocal || acmeTermsAgreed)) return ''
  const port = edgeTlsPublicPort ?? edgeTlsListen.port
  const note = isLocal ? 'to trust it in browsers, run stead trust' : 'once the authority has issued a certificate'
  return `, https://${name}.${stagingDomain}${port === 443 ? '' : `:${port}`}  (${note})`
}

const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function containmentText(containment: object | undefined): string {
  const { bubblewrap, uid, nodePermissions, network, runtimes } = (containment ?? {}) as Record<string, unknown>
  const native = Object.entries(runtimes ?? {}).flatMap(([version, runtime]) => (runtime === 'native' ? [version] : []))
  const walls = [
    bubblewrap ? 'in a bubblewrap sandbox' : '',
    uid ? 'with a separate user for each site' : '',
    nodePermissions ? "behind Node's permissions" : '',
    network === 'none-but-egress' ? 'without a separate network' : '',
    native.length > 0 ? `PHP ${native.join(' and ')} with this server's php-fpm` : '',
  ].filter(Boolean)
  return walls.length > 0 ? walls.join(', ') : 'not contained'
}

function databasesText(databases: object | undefined): string {
  const onServer = Object.entries(databases ?? {}).flatMap(([version, kind]) => (isOnServer(kind) ? [version] : []))
  return onServer.length > 0 ? `\n             new sites with PHP ${onServer.join(' and ')} use MariaDB` : ''
}

function bubblewrapHint(containment: object | undefined): string {
  const { bubblewrap, notes } = (containment ?? {}) as { bubblewrap?: boolean; notes?: string[] }
  if (bubblewrap !== false || !notes?.some((note) => note.startsWith('no bubblewrap'))) return ''
  return '\n             (stronger with bubblewrap: apt-get install bubblewrap)'
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
