import { availableParallelism, totalmem } from 'node:os'
import { closest } from './platform/closest.ts'
import { OperatorError } from './platform/operator-error.ts'
import {
  address,
  base64url,
  coreVersion,
  databaseUrl,
  datacenterCode,
  datacenters,
  domain,
  EntryFault,
  email,
  flag,
  folder,
  httpUrl,
  integer,
  listen,
  listens,
  listOf,
  mailbox,
  mariadbUrl,
  masterKey,
  nameServer,
  network,
  oneOf,
  optional,
  origin,
  secondaries,
  smtpUrl,
  text,
  tsigKeys,
} from './setting-values.ts'

export type { Datacenter, ListenAddress } from './setting-values.ts'

interface Setting<Value> {
  /** What the value means, its unit, and what it is good for. */
  readonly help: string
  /** The text used when nothing is set; `''` where the setting is off unless given. */
  readonly default: string
  /** Turns the text into the value; throws an `Error` whose message finishes "must be …". */
  readonly parse: (text: string) => Value
  /** Never printed by `stead config`. */
  readonly secret?: boolean
  /** Meant for tests only: a warning in the log at every start while it is set. */
  readonly testOnly?: boolean
}

/** Measured at 65 MB (Pss) for each: a small machine has better use for that. */
const defaultEdgeProcesses = (): number =>
  Math.max(1, Math.min(4, availableParallelism(), Math.round(totalmem() / 2 ** 30)))

/** Every setting of Stead. The environment variable is `STEAD_` and the key in capitals; the flag `--` and the key. */
export const settings = {
  dataDir: { help: 'Folder for everything that Stead keeps', default: './data', parse: folder },
  apiListen: { help: 'Address and port of the HTTP API', default: '127.0.0.1:8080', parse: listen },
  panel: {
    help: 'Whether the address of the API has the control panel for people: on or off',
    default: 'on',
    parse: oneOf('on', 'off'),
  },
  panelUrl: {
    help: 'Address under which people open the control panel, for links in mails and on the first start; empty: the one that the API listens on',
    default: '',
    parse: httpUrl,
  },
  edgeListen: { help: 'Address and port that visitors of sites reach', default: '127.0.0.1:8081', parse: listen },
  edgeTlsListen: {
    help: 'Address and port that visitors of sites reach over https; off: none',
    default: 'off',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  edgeTlsPublicPort: {
    help: 'Port in https addresses of sites, when visitors reach the edge on another one than it listens on',
    default: '',
    parse: (value: string) => (value ? integer(1, 65_535)(value) : undefined),
  },
  apiTlsListen: {
    help: 'Address and port of the HTTP API over https; off: none',
    default: 'off',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  apiName: {
    help: 'Host name by which the API is reached over https. Its certificate is ordered as those of sites; below the staging domain it has that of all first addresses, or one of the local authority; empty: STEAD_API_TLS_CERTIFICATE has one',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  apiTlsCertificate: {
    help: 'File with a certificate for the API (PEM, with those that lead to its authority), which is read again when it changes; empty: the one of STEAD_API_NAME',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  apiTlsKey: {
    help: 'File with the private key of STEAD_API_TLS_CERTIFICATE (PEM)',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  hostListen: {
    help: 'Address and port on which a host takes requests from the edge',
    default: '127.0.0.1:0',
    parse: listen,
  },
  sftpListen: {
    help: 'Address and port on which a host takes SFTP connections; off: none. A port of the default that is in use is no reason not to start',
    default: '127.0.0.1:2222',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  databaseUrl: {
    help: 'postgres:// address of the database; empty: an SQLite file in the data folder',
    default: '',
    parse: databaseUrl,
    secret: true,
  },
  masterKey: {
    help: 'Key (32 bytes, base64) that seals stored secrets; empty: a 0600 file in the data folder, made at first start',
    default: '',
    parse: masterKey,
    secret: true,
  },
  accountEmail: {
    help: 'E-mail address of the account made at first start',
    default: 'owner@stead.localhost',
    parse: email,
  },
  stagingDomain: {
    help: 'Domain below which every site has its first address: <name>.<staging domain>',
    default: 'localhost',
    parse: domain,
  },
  edgePublicPort: {
    help: 'Port in the addresses of sites, when visitors reach the edge on another one than it listens on',
    default: '',
    parse: (value: string) => (value ? integer(1, 65_535)(value) : undefined),
  },
  edgeAddresses: {
    help: "IP addresses under which visitors reach the edge, for sites' DNS records; empty: the address it listens on",
    default: '',
    parse: listOf(address),
  },
  resolvers: {
    help: "Name servers (addresses, with :port where it is not 53) that are asked where sites' domains lead, above all before a certificate is ordered; empty: those of the system",
    default: '',
    parse: listOf(nameServer),
  },
  localAuthority: {
    help: 'Whether Stead certifies the first addresses of sites itself where no public authority knows them (a staging domain that is or ends in localhost, test, local, internal or home.arpa) and the edge listens for TLS: auto or off. stead trust makes browsers trust it',
    default: 'auto',
    parse: oneOf('auto', 'off'),
  },
  acmeDirectory: {
    help: 'Directory of the certificate authority (ACME). The default issues certificates that no browser trusts; for real ones: https://acme-v02.api.letsencrypt.org/directory',
    default: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    parse: (value: string) => httpUrl(value) as string,
  },
  acmeTermsAgreed: {
    help: "Whether you agree to the authority's terms of service; before that no certificate is ordered",
    default: 'false',
    parse: flag,
  },
  acmeEmail: {
    help: 'Where the authority reaches you, as it is said at the first order; empty: nowhere',
    default: '',
    parse: (value: string) => (value ? email(value) : undefined),
  },
  acmeEabKid: {
    help: 'Key identifier by which the authority knows you as its customer (external account binding), where it demands one; empty: none',
    default: '',
    parse: optional,
  },
  acmeEabKey: {
    help: 'Key that belongs to STEAD_ACME_EAB_KID, in base64url as the authority shows it',
    default: '',
    parse: (value: string) => (value ? base64url(value) : undefined),
    secret: true,
  },
  acmeRoots: {
    help: "File with the certificates (PEM) by which an authority of one's own is trusted; empty: public ones alone",
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  edgeProcesses: {
    help: 'Edge processes that share the address (about 65 MB each, and their caches); 0: one a core and GB of memory, at most 4',
    default: '0',
    parse: (value: string) => integer(0, 64)(value) || defaultEdgeProcesses(),
  },
  dnsListen: {
    help: 'Addresses and ports on which zones are answered for, over UDP and TCP, comma separated, such as 192.0.2.53:53,[2001:db8::53]:53; off: none. A port of the default that is in use is no reason not to start',
    default: '127.0.0.1:5353',
    parse: (value: string) => (value === 'off' ? value : listens(value)),
  },
  dnsProcesses: {
    help: 'Name server processes that share the address (about 60 MB each, and all zones in each)',
    default: '1',
    parse: integer(1, 64),
  },
  dnsNameservers: {
    help: 'Host names of the name servers of all zones, the first one the primary; empty: ns1 and ns2 of the staging domain',
    default: '',
    parse: listOf(domain),
  },
  dnsSecondaries: {
    help: 'Servers that may copy all zones and hear of changes, as address, address:port, or address=key (it signs with a key of STEAD_DNS_TSIG_KEYS); empty: none',
    default: '',
    parse: secondaries,
  },
  dnsTsigKeys: {
    help: 'Keys of secondaries (TSIG, hmac-sha256) as name=base64, comma separated',
    default: '',
    parse: tsigKeys,
    secret: true,
  },
  dnsCatalog: {
    help: 'Name of a catalog zone (RFC 9432) that tells secondaries which zones there are, such as catalog.invalid; empty: none',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  dnsRateLimit: {
    help: 'Equal answers a second that one network (/24, /56) gets over UDP, before it is asked to use TCP; 0: no limit',
    default: '200',
    parse: integer(0, 1_000_000),
  },
  edgeCacheMb: {
    help: 'Memory in MB that the cache of an edge process may take',
    default: '128',
    parse: integer(8, 1 << 20),
  },
  edgeCacheDiskMb: {
    help: 'Disk space in MB for what the cache of an edge process has no memory for; 0: none',
    default: '1024',
    parse: integer(0, 1 << 24),
  },
  botCheck: {
    help: 'How bots of search engines are known while a site is in defensive mode: dns (the name of their address, and its address), name (what they call themselves; anybody can), none (no bot passes)',
    default: 'dns',
    parse: oneOf('dns', 'name', 'none'),
  },
  logMb: {
    help: 'Disk space in MB for the web server and PHP logs of all sites (7 days); the oldest day goes first, and one site may have a 32nd of it a day and log',
    default: '4096',
    parse: integer(64, 1 << 24),
  },
  trashDays: {
    help: 'Days that the files of a deleted site are kept for an undo; 0: none',
    default: '7',
    parse: integer(0, 365),
  },
  scheduledBackups: {
    help: 'Whether sites are backed up by themselves, every night and every hour, and proved once a week: true or false',
    default: 'true',
    parse: flag,
  },
  backupDir: {
    help: 'Folder for backups of sites, best on another disk; empty: backups in the data folder',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  backupS3Bucket: {
    help: 'S3 bucket for backups, in place of a folder; empty: none',
    default: '',
    parse: optional,
  },
  backupS3Prefix: {
    help: 'What the names of all objects in the bucket begin with: one for each installation',
    default: 'stead',
    parse: text,
  },
  backupS3Endpoint: {
    help: "Address of an S3-compatible service; empty: Amazon's",
    default: '',
    parse: httpUrl,
  },
  backupS3Region: { help: 'Region of the bucket', default: 'us-east-1', parse: text },
  backupS3AccessKeyId: {
    help: 'Access key of the bucket; empty: what the machine knows (AWS_… variables, ~/.aws, the role of an instance)',
    default: '',
    parse: optional,
  },
  backupS3SecretAccessKey: {
    help: 'Secret of the access key',
    default: '',
    parse: optional,
    secret: true,
  },
  coreSource: {
    help: 'Folder, .zip or .tar.gz with a WordPress release; empty: the public release API, then a Debian package',
    default: '',
    parse: optional,
  },
  coreVersion: { help: 'WordPress version of new sites, or latest', default: 'latest', parse: coreVersion },
  wordpressApi: {
    help: 'Base address that stands in for the public WordPress release and plugin APIs',
    default: '',
    parse: httpUrl,
    testOnly: true,
  },
  allowPrivateFetch: {
    help: 'Let requests to addresses given by users reach loopback and private networks',
    default: '',
    parse: flag,
    testOnly: true,
  },
  adminer: {
    help: "File with Adminer, by which people look into databases; empty: that of Debian's package where it is installed, else it is fetched once; off: none",
    default: '',
    parse: optional,
  },
  adminerSource: {
    help: 'Address that Adminer 4.8.1 is fetched from; empty: its public one',
    default: '',
    parse: httpUrl,
  },
  chromium: {
    help: 'Program of Chromium, by which performance reports are made; empty: that of the system, where it is installed',
    default: '',
    parse: optional,
  },
  performanceReportHours: {
    help: 'Hours after which a live site gets a performance report by itself; 0: only when one is ordered',
    default: '24',
    parse: integer(0, 8760),
  },
  wpCli: {
    help: 'File with WP-CLI (wp-cli.phar), by which people run commands on a site over SSH; empty: it is fetched once, by its first use',
    default: '',
    parse: optional,
  },
  wpCliSource: {
    help: 'Address that WP-CLI is fetched from, with its SHA-512 at the same one with .sha512 added; empty: its public one',
    default: '',
    parse: httpUrl,
  },
  sandbox: {
    help: 'How PHP processes are contained: auto takes the strongest that this machine has',
    default: 'auto',
    parse: oneOf('auto', 'bubblewrap', 'none'),
  },
  runtime: {
    help: 'What runs PHP: wasm, native (php-fpm of this machine; versions that it lacks are refused), or auto: new sites are native where the machine has php-fpm of their version and there is MariaDB, else wasm with SQLite; sites that are there stay as they are until they are moved',
    default: 'wasm',
    parse: oneOf('wasm', 'native', 'auto'),
  },
  mariadb: {
    help: 'MariaDB for databases of sites: own starts a server on each host from the programs of the machine, with data and settings of its own; off: none',
    default: 'off',
    parse: oneOf('off', 'own'),
  },
  mariadbUrl: {
    help: "MariaDB that the operator runs, used in place of a host's own: mariadb://user:password@host:3306 (with ?ssl=true, or ?socket= and a path); empty: none",
    default: '',
    parse: mariadbUrl,
    secret: true,
  },
  spareSites: {
    help: 'Warm spare sites kept ready on a host (about 230 MB each); 0 to 8',
    default: '1',
    parse: integer(0, 8),
  },
  preparedSites: {
    help: 'Site folders copied ahead on a host, without a process; 0 to 64',
    default: '4',
    parse: integer(0, 64),
  },
  phpMemoryMb: {
    help: 'Memory in MB that all PHP processes of a host may take together (spares included); 0: half of the machine',
    default: '0',
    parse: (value: string) => integer(0, 1 << 24)(value) || Math.floor(totalmem() / 2 ** 21),
  },
  phpProcessMemoryMb: {
    help: 'Memory in MB at which one PHP process is replaced',
    default: '768',
    parse: integer(256, 65_536),
  },
  phpNice: {
    help: "How much PHP gives way to everything else on the machine (nice): the default keeps the API and cached pages quick while sites work; 0 suits a machine of one's own, on which other programs compete with PHP",
    default: '10',
    parse: integer(0, 19),
  },
  phpOptimize: {
    help: 'Whether V8 optimizes the code of PHP while it runs, and keeps that for processes to come: true gives the quickest pages; with false pages take half as long again, and the process of a site some 10 MB less, which suits CI: nothing has to be kept first',
    default: 'true',
    parse: flag,
  },
  phpMemoryLimitMb: { help: 'memory_limit of PHP in MB', default: '256', parse: integer(64, 4096) },
  phpRequestSeconds: {
    help: 'Seconds after which a PHP request that has not finished is cut off',
    default: '60',
    parse: integer(1, 3600),
  },
  phpIdleSeconds: {
    help: 'Seconds without a request after which the process of a site stops',
    default: '600',
    parse: integer(1, 86_400),
  },
  phpReadySites: {
    help: 'Sites of a host, those with the most visits of the last day, whose process does not stop without requests, as long as half of the memory for PHP is free; 0 to 1000',
    default: '4',
    parse: integer(0, 1000),
  },
  cgroup: {
    help: 'Folder of cgroup v2 that is given over to this Stead (systemd: Delegate=), by which the kernel bounds what native PHP of sites takes; empty: none',
    default: '',
    parse: optional,
  },
  phpAtOnce: {
    help: 'Requests of one site that native PHP works on at once (and one more of those that a site sends to itself); on wasm it is one',
    default: '4',
    parse: integer(1, 32),
  },
  phpQueue: { help: 'Requests of one site that may wait for its PHP', default: '100', parse: integer(1, 10_000) },
  siteDiskMb: {
    help: 'Disk space in MB that one site may take, unless the plan of its owner says less',
    default: '10240',
    parse: integer(50, 1 << 24),
  },
  diskReserveMb: {
    help: 'Disk space in MB that Stead keeps for itself when the disk is full; sites stop writing at twice that',
    default: '64',
    parse: integer(8, 1 << 16),
  },
  importMaxMb: {
    help: 'Largest site in MB that can be imported: what is sent, and what it unpacks to',
    default: '10240',
    parse: integer(1, 1 << 20),
  },
  uploadMaxMb: { help: 'Largest request body in MB that a site takes', default: '128', parse: integer(1, 2048) },
  datacenters: {
    help: 'Datacenters on offer, code=name',
    default: 'AMS=Amsterdam,BUR=Burbank,DCA=Washington DC,DFW=Dallas',
    parse: datacenters,
  },
  hostDatacenters: {
    help: 'Datacenter codes that this host serves, those of STEAD_DATACENTERS; empty: all',
    default: '',
    parse: listOf(datacenterCode),
  },
  smtpUrl: {
    help: 'smtp:// or smtps:// address of the mail server (user:password@ for a log-in); empty: mails are kept as files in the folder outbox of the data folder',
    default: '',
    parse: smtpUrl,
    secret: true,
  },
  mailFrom: {
    help: 'Sender of the mails of Stead, an address that the mail server lets it use',
    default: 'Stead <stead@localhost>',
    parse: mailbox,
  },
  siteMailsPerHour: {
    help: 'Mails that a site may send within an hour, each recipient counted; 0: none',
    default: '200',
    parse: integer(0, 1_000_000),
  },
  hostMailsPerHour: {
    help: 'The same for all sites of a host together',
    default: '5000',
    parse: integer(0, 10_000_000),
  },
  stagingMails: {
    help: 'What becomes of mails of sites whose environment type is not production: keep (as files in the folder outbox of the data folder: copies write to nobody) or send',
    default: 'keep',
    parse: oneOf('keep', 'send'),
  },
  dkimDomain: {
    help: 'Domain for which mails of sites are signed with DKIM; empty: they are not, or the mail server does',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  dkimSelector: {
    help: "Name of the key in that domain's DNS: <selector>._domainkey.<domain>",
    default: 'stead',
    parse: domain,
  },
  dkimKeyFile: {
    help: 'File with the private key for DKIM, in PEM',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  corsOrigins: {
    help: 'Origins whose pages may call the API, comma separated, such as https://app.example.com; or *',
    default: '',
    parse: listOf(origin),
  },
  rateLimit: {
    help: 'Requests a minute for one application; 0: no limit',
    default: '600',
    parse: integer(0, 1_000_000),
  },
  tokenRateLimit: {
    help: 'Token requests a minute for one address; 0: no limit',
    default: '30',
    parse: integer(0, 1_000_000),
  },
  trustProxy: {
    help: 'Addresses or networks of HTTP proxies in front of the API and the edge, whose X-Forwarded-For and -Proto are believed; never those of a balancer that only passes connections on',
    default: '',
    parse: listOf(network),
  },
  proxyProtocol: {
    help: 'Addresses or networks of balancers in front of the edge, the API and SFTP that say by the PROXY protocol (version 1 or 2) who has connected to them; empty: nobody may',
    default: '',
    parse: listOf(network),
  },
  logLevel: {
    help: 'Least severity that is logged',
    default: 'info',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
} as const satisfies Record<string, Setting<unknown>>

type Settings = typeof settings

/** Names a setting: `apiListen`. */
export type SettingKey = keyof Settings

/** The settings in force, each in its parsed form. */
export type Config = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> }

/** A setting that cannot be used: the message names the variable and what it must be. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}

/** The environment variable of a key: `apiListen` → `STEAD_API_LISTEN`. */
export const variableOf = (key: string): string =>
  `STEAD_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** The command-line flag of a key: `apiListen` → `--api-listen`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/**
 * Reads the settings from flags (`--api-listen=…` already split into a map) and the environment; flags win.
 * @throws ConfigError naming every bad or unknown setting, one a line.
 */
export function readConfig(
  environment: Record<string, string | undefined>,
  flags: Record<string, string> = {},
): Config {
  const faults: string[] = []
  const config: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const given = flags[flagOf(key)] ?? environment[variableOf(key)]
    try {
      config[key] = setting.parse(given?.trim() || setting.default)
    } catch (error) {
      const name = flags[flagOf(key)] === undefined ? variableOf(key) : flagOf(key)
      faults.push(`${name} ${(error as Error).message}${foundIn(error, given, setting)}`)
    }
  }
  if (faults.length === 0) faults.push(...faultsTogether(config as Config))
  const known = new Set([...Object.keys(settings).map(variableOf), ...clientVariables])
  for (const name of Object.keys(environment))
    if (name.startsWith('STEAD_') && !known.has(name))
      faults.push(`${name} is no setting of Stead (see: stead help settings).${meant(name, known)}`)
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return config as Config
}

/** What each setting by itself says rightly, and they do not together. */
function faultsTogether(config: Config): string[] {
  const { hostDatacenters, datacenters: offered, dnsSecondaries, dnsTsigKeys, acmeEabKid, acmeEabKey } = config
  const codes = offered.map(({ code }) => code)
  const strange = hostDatacenters.filter((code) => !codes.includes(code))
  const keyless = dnsSecondaries.flatMap(({ keyName }) => (keyName && !dnsTsigKeys?.has(keyName) ? [keyName] : []))
  const isHalf = (acmeEabKid === undefined) !== (acmeEabKey === undefined)
  return [
    ...(isHalf ? ['STEAD_ACME_EAB_KID and STEAD_ACME_EAB_KEY must be set together: the authority gives you both'] : []),
    ...strange.map(
      (code) => `STEAD_HOST_DATACENTERS must be codes of STEAD_DATACENTERS, such as ${codes[0]}, not "${code}"`,
    ),
    ...keyless.map(
      (name) =>
        `STEAD_DNS_SECONDARIES must name keys of STEAD_DNS_TSIG_KEYS, such as ${name}=<base64>: there is no "${name}"`,
    ),
  ]
}

/** What was given in place of what must be: of a list the one entry. */
function foundIn(error: unknown, given: string | undefined, { secret }: Setting<unknown>): string {
  if (!(error instanceof EntryFault)) return secret ? '' : `, not ${JSON.stringify(given)}`
  return secret ? ` (entry ${error.place} is not)` : `, not ${JSON.stringify(error.entry)}`
}

/** By them the command line knows which API to call: no settings, and no mistake either. */
const clientVariables = ['STEAD_API_URL', 'STEAD_CLIENT_ID', 'STEAD_CLIENT_SECRET', 'STEAD_PROFILE']

/** What has the same beginning anyway says nothing of how near two names are. */
function meant(name: string, known: ReadonlySet<string>): string {
  const bare = (variable: string) => variable.slice('STEAD_'.length)
  const near = closest(bare(name), [...known].map(bare))
  return near === undefined ? '' : ` Did you mean STEAD_${near}?`
}

/** All settings with variable, flag, default and meaning: what `stead help settings` prints. */
export function printableSettings(): {
  name: string
  flag: string
  help: string
  default: string
  testOnly: boolean
}[] {
  return (Object.entries(settings) as [string, Setting<unknown>][]).map(([key, setting]) => ({
    name: variableOf(key),
    flag: flagOf(key),
    help: setting.help,
    default: setting.default,
    testOnly: setting.testOnly === true,
  }))
}

/** Settings meant for tests that are on: each start warns of them. */
export function testSettingsInForce(config: Config): string[] {
  return (Object.entries(settings) as [keyof Settings, Setting<unknown>][])
    .filter(([key, setting]) => setting.testOnly && config[key])
    .map(([key]) => variableOf(key))
}

/** The settings in force as `variable → text`, secrets hidden: what `stead config` prints. */
export function printableConfig(config: Config): { name: string; value: string; help: string }[] {
  return (Object.entries(settings) as [keyof Settings, Setting<unknown>][]).map(([key, setting]) => {
    const value = config[key]
    const shown = setting.secret && value !== undefined ? '(set)' : print(value)
    return { name: variableOf(key), value: shown, help: setting.help }
  })
}

function print(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.map(print).join(',')
  if (typeof value === 'object' && value !== null) {
    if ('port' in value && 'host' in value) return `${String(value.host)}:${String(value.port)}`
    if ('code' in value && 'name' in value) return `${String(value.code)}=${String(value.name)}`
  }
  return String(value)
}
