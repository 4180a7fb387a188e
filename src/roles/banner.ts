import { get } from 'node:http'
import { resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { localDomainOf } from '../certificates/local-domain.ts'
import type { Config } from '../config.ts'
import { domainSharedWithSites } from '../resources/access/reserved-names.ts'
import { version } from '../version.ts'
import { type Credentials, credentialsFile, readCredentials, urlOf } from './credentials.ts'

/** What a newcomer needs to know once Stead runs. */
export interface FirstWords {
  readonly credentials: Credentials | undefined
  readonly hosts: readonly {
    readonly wordpress?: string
    readonly reason?: string
    readonly containment?: object
    readonly databases?: object
  }[]
}

type Hosts = FirstWords['hosts']

/** Waits until the API says that it is ready, or the signal fires (then it rejects). */
export async function untilReady(config: Config, signal: AbortSignal): Promise<FirstWords> {
  for (;;) {
    const hosts = await readyHosts(await apiUrl(config), signal).catch(() => undefined)
    if (hosts) return { credentials: await readCredentials(config.dataDir), hosts }
    await pause(100, undefined, { signal })
  }
}

/** With a port of the system's choice only the file of the first account says which. */
async function apiUrl({ apiListen: { host, port }, dataDir }: Config): Promise<string> {
  if (port === 0) return (await readCredentials(dataDir))?.api_url ?? ''
  return urlOf({ host, port })
}

/** Of a host that does not run, nothing but its state is known. */
const isTold = ({ wordpress }: Hosts[number]): boolean => wordpress !== undefined

/** Not `fetch`: the supervisor lives as long as Stead, and that would cost it 20 MB for one question. */
async function readyHosts(url: string, signal: AbortSignal): Promise<Hosts | undefined> {
  return new Promise((resolve, reject) => {
    get(`${url}/readyz`, { signal, agent: false }, (response) => {
      const body = json(response) as Promise<{ hosts?: Hosts }>
      body.then(({ hosts }) => resolve(response.statusCode === 200 ? (hosts ?? []).filter(isTold) : undefined), reject)
    }).on('error', reject)
  })
}

export interface Reader {
  /** The account was made by this start. */
  readonly isFirst: boolean
  /** Somebody looks; else the words go into a file or a log that others read, and are kept. */
  readonly isTerminal: boolean
}

/** The lines that a start ends with. The keys of a first account are shown this once, and only to who looks. */
export function banner(config: Config, { credentials, hosts }: FirstWords, { isFirst, isTerminal }: Reader): string {
  const api = credentials?.api_url ?? `http://${config.apiListen.host}:${config.apiListen.port}`
  const lines = [
    '',
    `Stead ${version} is running`,
    `  API        ${api}  (documentation: ${api}/docs)`,
    ...(config.panel === 'on'
      ? [`  Panel      ${config.panelUrl ?? secureApi(config) ?? api}  (for people, in a browser)`]
      : []),
    `  Sites      ${addressOf('<name>', config)}${secureAddressOf('<name>', config)}`,
    ...hosts.map((each) =>
      each.wordpress
        ? `  WordPress  ${each.wordpress}, PHP ${containmentText(each.containment)}${databasesText(each.databases)}${bubblewrapHint(each.containment)}`
        : `  WordPress  not available yet:\n${indented(each.reason ?? '')}`,
    ),
  ]
  if (!credentials) return `${lines.join('\n')}\n`
  const keys = credentialsFile(resolve(config.dataDir))
  lines.push(`  Account    ${credentials.account_email}  (keys: ${keys})`)
  // made by a Stead without a panel: nobody has a password
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
  }
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

/** Where the API listens for https under a name of its own. */
function secureApi({ apiTlsListen, apiName }: Config): string | undefined {
  if (apiTlsListen === 'off' || apiName === undefined) return undefined
  return `https://${apiName}${apiTlsListen.port === 443 ? '' : `:${apiTlsListen.port}`}`
}

/** As `stagingAddress` says it, which would bring much along for one line. */
function addressOf(name: string, { edgePublicPort, edgeListen, stagingDomain }: Config): string {
  const port = edgePublicPort ?? edgeListen.port
  if (port === 443) return `https://${name}.${stagingDomain}`
  return `http://${name}.${stagingDomain}${port === 80 ? '' : `:${port}`}`
}

/** Where Stead certifies the address itself; one of a public authority is nobody's before it is ordered. */
function secureAddressOf(name: string, config: Config): string {
  const { edgeTlsListen, edgeTlsPublicPort, stagingDomain } = config
  if (edgeTlsListen === 'off' || localDomainOf(config) === undefined) return ''
  const port = edgeTlsPublicPort ?? edgeTlsListen.port
  return `, https://${name}.${stagingDomain}${port === 443 ? '' : `:${port}`}  (to trust it in browsers, run stead trust)`
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
  const onServer = Object.entries(databases ?? {}).flatMap(([version, kind]) => (kind === 'mariadb' ? [version] : []))
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
