import { availableParallelism, totalmem } from 'node:os'
import { closest } from './platform/closest.ts'
import { isMachineName } from './platform/mtls/role-name.ts'
import { OperatorError } from './platform/operator-error.ts'
import {
  address,
  base64url,
  choiceOf,
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
  listen,
  listens,
  listOf,
  mailbox,
  mariadbUrl,
  masterKey,
  nameServer,
  network,
  optional,
  origin,
  secondaries,
  smtpUrl,
  text,
  tsigKeys,
  urlOrFile,
  wholeNumber,
} from './setting-values.ts'

export type { Datacenter, ListenAddress } from './setting-values.ts'

interface Setting<Value> {
  /** What the value means, its unit, and its purpose. */
  readonly help: string
  /** The text used when nothing is set, or `''` if the setting is then off. */
  readonly default: string
  /** Turns the text into the value. Throws an `Error` whose message finishes "must be …". */
  readonly parse: (text: string) => Value
  /** Whether `stead config` hides it. */
  readonly secret?: boolean
  /** For tests only. While it is set, each start logs a warning. */
  readonly testOnly?: boolean
}

/** Each takes 65 MB (Pss), so a small machine gets fewer. */
const defaultEdgeProcesses = (): number =>
  Math.max(1, Math.min(4, availableParallelism(), Math.round(totalmem() / 2 ** 30)))

/**
 * Every setting of Stead. The environment variable is `STEAD_` and the key in capitals. The flag is `--` and the key.
 */
export const settings = {
  dataDir: { help: 'Folder for all data of Stead', default: './data', parse: folder },
  apiListen: { help: 'Address and port of the HTTP API', default: '127.0.0.1:8080', parse: listen },
  panel: {
    help: 'Whether the API also serves the control panel: on or off',
    default: 'on',
    parse: choiceOf('on', 'off'),
  },
  panelUrl: {
    help: 'URL of the control panel, for links in mails and at the first start. Default: the address of the API',
    default: '',
    parse: httpUrl,
  },
  edgeListen: { help: 'Address and port for visitors of sites', default: '127.0.0.1:8081', parse: listen },
  edgeTlsListen: {
    help: 'Address and port for visitors of sites over https, or off',
    default: 'off',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  edgeTlsPublicPort: {
    help: 'Port in https URLs of sites, if visitors use another port than the edge listens on',
    default: '',
    parse: (value: string) => (value ? wholeNumber(1, 65_535)(value) : undefined),
  },
  apiTlsListen: {
    help: 'Address and port of the HTTP API over https, or off',
    default: 'off',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  apiName: {
    help: 'Host name of the API over https. Stead requests its certificate as for sites. Below the staging domain, it uses the certificate of the staging domain or of the local authority. Default: use STEAD_API_TLS_CERTIFICATE',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  apiTlsCertificate: {
    help: 'File with a certificate chain for the API (PEM). Stead reads it again when it changes. Default: the certificate of STEAD_API_NAME',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  apiTlsKey: {
    help: 'File with the private key of STEAD_API_TLS_CERTIFICATE (PEM)',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  internalListen: {
    help: 'Address and port where a control accepts machines that join, and renews their certificates, or off. Requires PostgreSQL',
    default: 'off',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  hostListen: {
    help: 'Address and port where a host accepts requests from the edge',
    default: '127.0.0.1:0',
    parse: listen,
  },
  hostAdvertise: {
    help: 'Address and port at which edges on other machines reach this host. Default: STEAD_HOST_LISTEN; if that is 0.0.0.0, the address of this machine towards PostgreSQL',
    default: '',
    parse: (value: string) => (value ? listen(value) : undefined),
  },
  sftpListen: {
    help: 'Address and port where a host accepts SFTP connections, or off. If the default port is in use, Stead starts without SFTP',
    default: '127.0.0.1:2222',
    parse: (value: string) => (value === 'off' ? value : listen(value)),
  },
  databaseUrl: {
    help: 'postgres:// URL of the database. Default: an SQLite file in the data folder',
    default: '',
    parse: databaseUrl,
    secret: true,
  },
  masterKey: {
    help: 'Key (32 bytes, base64) that seals stored secrets. Default: a file in the data folder, created at the first start. Machines that joined need none',
    default: '',
    parse: masterKey,
    secret: true,
  },
  accountEmail: {
    help: 'E-mail address of the account that Stead creates at the first start',
    default: 'owner@stead.localhost',
    parse: email,
  },
  addons: {
    help: 'Which accounts can attach add-ons, and so raise their own limits: operator (only the account of the operator) or all',
    default: 'operator',
    parse: choiceOf('operator', 'all'),
  },
  stagingDomain: {
    help: 'Domain for the first address of each site: <name>.<staging domain>',
    default: 'localhost',
    parse: domain,
  },
  edgePublicPort: {
    help: 'Port in http URLs of sites, if visitors use another port than the edge listens on',
    default: '',
    parse: (value: string) => (value ? wholeNumber(1, 65_535)(value) : undefined),
  },
  edgeAddresses: {
    help: 'Public IP addresses of the edge, for DNS records of sites. Default: the address that it listens on',
    default: '',
    parse: listOf(address),
  },
  resolvers: {
    help: "Name servers to look up sites' domains, mainly before a certificate request. Add :port if it is not 53. Default: the servers of the system",
    default: '',
    parse: listOf(nameServer),
  },
  localAuthority: {
    help: 'Whether Stead issues its own certificates for a staging domain that is or ends in localhost, test, local, internal or home.arpa, if the edge listens for TLS: auto or off. To make browsers trust them, run stead trust',
    default: 'auto',
    parse: choiceOf('auto', 'off'),
  },
  acmeDirectory: {
    help: 'Directory URL of the certificate authority (ACME). The default issues test certificates that no browser trusts. For real ones, use https://acme-v02.api.letsencrypt.org/directory',
    default: 'https://acme-staging-v02.api.letsencrypt.org/directory',
    parse: (value: string) => httpUrl(value) as string,
  },
  acmeTermsAgreed: {
    help: "Whether you agree to the authority's terms of service. Without it, Stead requests no certificates",
    default: 'false',
    parse: flag,
  },
  acmeEmail: {
    help: 'E-mail address for the authority, sent with the first certificate request. Default: none',
    default: '',
    parse: (value: string) => (value ? email(value) : undefined),
  },
  acmeEabKid: {
    help: 'Key identifier of your customer account at the authority (external account binding), if it requires one; empty: none',
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
    help: 'File with root certificates (PEM) of a private authority. Default: trust public authorities only',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  edgeProcesses: {
    help: 'Number of edge processes (about 65 MB each, plus their caches). 0 for one per core and GB of memory, at most 4',
    default: '0',
    parse: (value: string) => wholeNumber(0, 64)(value) || defaultEdgeProcesses(),
  },
  dnsListen: {
    help: 'Addresses and ports of the name server over UDP and TCP, separated by commas, such as 192.0.2.53:53,[2001:db8::53]:53, or off. If the default port is in use, Stead starts without a name server',
    default: '127.0.0.1:5353',
    parse: (value: string) => (value === 'off' ? value : listens(value)),
  },
  dnsProcesses: {
    help: 'Number of name server processes (about 60 MB each, plus all zones)',
    default: '1',
    parse: wholeNumber(1, 64),
  },
  dnsNameservers: {
    help: 'Host names of the name servers of all zones, with the primary first. Default: ns1 and ns2 of the staging domain',
    default: '',
    parse: listOf(domain),
  },
  dnsSecondaries: {
    help: 'Secondary servers that can transfer all zones and get notifications, as address, address:port or address=key (a key of STEAD_DNS_TSIG_KEYS). Default: none',
    default: '',
    parse: secondaries,
  },
  dnsTsigKeys: {
    help: 'TSIG keys of secondaries (hmac-sha256) as name=base64, separated by commas',
    default: '',
    parse: tsigKeys,
    secret: true,
  },
  dnsCatalog: {
    help: 'Name of a catalog zone (RFC 9432) that lists all zones for secondaries, such as catalog.invalid. Default: none',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  dnsRateLimit: {
    help: 'Identical responses per second over UDP to one network (/24, /56). Above the limit, clients must use TCP. 0 for no limit',
    default: '200',
    parse: wholeNumber(0, 1_000_000),
  },
  edgeCacheMb: {
    help: 'Memory in MB for the cache of an edge process',
    default: '128',
    parse: wholeNumber(8, 1 << 20),
  },
  edgeCacheDiskMb: {
    help: 'Disk space in MB for cached content of an edge process that does not fit into memory. 0 for none',
    default: '1024',
    parse: wholeNumber(0, 1 << 24),
  },
  botCheck: {
    help: 'How Stead identifies search engine bots in defensive mode: dns (verifies the address with DNS), name (trusts the User-Agent, which anyone can fake), or none (no bot passes)',
    default: 'dns',
    parse: choiceOf('dns', 'name', 'none'),
  },
  logMb: {
    help: 'Disk space in MB for the web server and PHP logs of all sites (7 days). Stead deletes the oldest day first. One site can use 1/32 of it per day and log',
    default: '4096',
    parse: wholeNumber(64, 1 << 24),
  },
  trashDays: {
    help: 'Days to keep the files of deleted sites for an undo. 0 for none',
    default: '7',
    parse: wholeNumber(0, 365),
  },
  scheduledBackups: {
    help: 'Whether Stead backs up sites automatically every night and every hour, and tests a restore every week: true or false',
    default: 'true',
    parse: flag,
  },
  measureBackups: {
    help: 'Whether Stead measures the download of each on-demand file backup, which takes as long as compressing it. With false, the size is null and downloads show no progress, which suits CI',
    default: 'true',
    parse: flag,
  },
  backupDir: {
    help: 'Folder for backups of sites, ideally on another disk. Default: backups in the data folder',
    default: '',
    parse: (value: string) => (value ? folder(value) : undefined),
  },
  backupS3Bucket: {
    help: 'S3 bucket for backups, instead of a folder. A host that joined needs none: it uses that of the control. Default: none',
    default: '',
    parse: optional,
  },
  backupS3Prefix: {
    help: 'Prefix of all object names in the bucket. Use a different one for each installation',
    default: 'stead',
    parse: text,
  },
  backupS3Endpoint: {
    help: 'URL of an S3-compatible service. Default: Amazon S3',
    default: '',
    parse: httpUrl,
  },
  backupS3Region: { help: 'Region of the bucket', default: 'us-east-1', parse: text },
  backupS3AccessKeyId: {
    help: 'Access key of the bucket. Default: the credentials of the server (AWS_… variables, ~/.aws, or the role of an instance)',
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
    help: 'Folder, .zip or .tar.gz with a WordPress release. Default: the public release API, then a Debian package',
    default: '',
    parse: optional,
  },
  coreVersion: { help: 'WordPress version of new sites, or latest', default: 'latest', parse: coreVersion },
  wordpressApi: {
    help: 'Base URL to use instead of the public WordPress release and plugin APIs',
    default: '',
    parse: httpUrl,
    testOnly: true,
  },
  allowPrivateFetch: {
    help: 'Allow requests to loopback and private networks for URLs from users',
    default: '',
    parse: flag,
    testOnly: true,
  },
  vulnerabilityFeed: {
    help: 'Feed of known vulnerabilities of plugins, themes and WordPress: an https URL, or a file. Default: none',
    default: '',
    parse: urlOrFile,
  },
  adminer: {
    help: "File with Adminer, the database tool, or off. Default: Debian's package if it is installed, otherwise downloaded once",
    default: '',
    parse: optional,
  },
  adminerSource: {
    help: 'URL to download Adminer 4.8.1 from. Default: its public URL',
    default: '',
    parse: httpUrl,
  },
  chromium: {
    help: 'Chromium program for performance reports. Default: the one of the system, if it is installed. A clone also needs npm run browser',
    default: '',
    parse: optional,
  },
  performanceReportHours: {
    help: 'Hours between automatic performance reports of a live site. 0 for reports on request only',
    default: '24',
    parse: wholeNumber(0, 8760),
  },
  wpCli: {
    help: 'File with WP-CLI (wp-cli.phar) for commands on sites over SSH. Default: downloaded at the first use',
    default: '',
    parse: optional,
  },
  wpCliSource: {
    help: 'URL to download WP-CLI from. Its SHA-512 must be at the same URL with .sha512 added. Default: its public URL',
    default: '',
    parse: httpUrl,
  },
  sandbox: {
    help: 'How Stead isolates PHP processes. auto uses the strongest way that the server supports',
    default: 'auto',
    parse: choiceOf('auto', 'bubblewrap', 'none'),
  },
  runtime: {
    help: 'PHP runtime: wasm, native (php-fpm of the server, only versions that it has), or auto. With auto, new sites are native if the server has php-fpm of their version and MariaDB, otherwise wasm with SQLite. Existing sites do not change until you move them',
    default: 'wasm',
    parse: choiceOf('wasm', 'native', 'auto'),
  },
  mariadb: {
    help: "MariaDB for databases of sites. own starts a separate server on each host with the server's MariaDB programs. off for none",
    default: 'off',
    parse: choiceOf('off', 'own'),
  },
  mariadbUrl: {
    help: "MariaDB server of the operator, to use instead of the host's own: mariadb://user:password@host:3306 (with ?ssl=true, or ?socket= and a path). Default: none",
    default: '',
    parse: mariadbUrl,
    secret: true,
  },
  spareSites: {
    help: 'Number of warm spare sites on a host (about 230 MB each), 0 to 8',
    default: '1',
    parse: wholeNumber(0, 8),
  },
  preparedSites: {
    help: 'Number of site directories prepared on a host without a process, 0 to 64',
    default: '4',
    parse: wholeNumber(0, 64),
  },
  phpMemoryMb: {
    help: "Memory in MB for all PHP processes of a host, including spares. 0 for half of the server's memory",
    default: '0',
    parse: (value: string) => wholeNumber(0, 1 << 24)(value) || Math.floor(totalmem() / 2 ** 21),
  },
  phpProcessMemoryMb: {
    help: 'Memory in MB at which Stead replaces a PHP process',
    default: '768',
    parse: wholeNumber(256, 65_536),
  },
  phpNice: {
    help: 'Niceness of PHP processes. The default keeps the API and cached pages fast while sites work. Use 0 on your own computer, where other programs compete with PHP',
    default: '10',
    parse: wholeNumber(0, 19),
  },
  phpOptimize: {
    help: 'Whether V8 optimizes PHP code and saves the result for later processes. true gives the fastest pages. With false, pages take 50 % longer and the process of a site uses about 10 MB less, which suits CI',
    default: 'true',
    parse: flag,
  },
  phpMemoryLimitMb: { help: 'memory_limit of PHP in MB', default: '256', parse: wholeNumber(64, 4096) },
  phpRequestSeconds: {
    help: 'Seconds after which Stead stops a PHP request',
    default: '60',
    parse: wholeNumber(1, 3600),
  },
  phpIdleSeconds: {
    help: 'Seconds without requests after which Stead stops the process of a site',
    default: '600',
    parse: wholeNumber(1, 86_400),
  },
  phpReadySites: {
    help: 'Number of most visited sites of a host whose process keeps running without requests while half of the memory for PHP is free, 0 to 1000',
    default: '4',
    parse: wholeNumber(0, 1000),
  },
  cgroup: {
    help: 'Delegated cgroup v2 folder (systemd: Delegate=) that limits the resources of native PHP. Default: none',
    default: '',
    parse: optional,
  },
  phpAtOnce: {
    help: 'Concurrent requests of one site in native PHP, plus one that the site sends to itself. With wasm, always one',
    default: '4',
    parse: wholeNumber(1, 32),
  },
  phpQueue: {
    help: 'Maximum requests of one site that wait for its PHP',
    default: '100',
    parse: wholeNumber(1, 10_000),
  },
  siteDiskMb: {
    help: "Maximum disk space in MB of one site, unless the owner's plan allows less",
    default: '10240',
    parse: wholeNumber(50, 1 << 24),
  },
  diskReserveMb: {
    help: 'Disk space in MB that Stead reserves for itself. Sites become read-only at twice this value',
    default: '64',
    parse: wholeNumber(8, 1 << 16),
  },
  importMaxMb: {
    help: 'Maximum size in MB of an import, for the archive and for its unpacked content',
    default: '10240',
    parse: wholeNumber(1, 1 << 20),
  },
  uploadMaxMb: { help: 'Maximum request body in MB that a site accepts', default: '128', parse: wholeNumber(1, 2048) },
  datacenters: {
    help: 'Available datacenters, as code=name',
    default: 'AMS=Amsterdam,BUR=Burbank,DCA=Washington DC,DFW=Dallas',
    parse: datacenters,
  },
  hostDatacenters: {
    help: 'Datacenter codes that this host serves, those of STEAD_DATACENTERS; empty: all',
    default: '',
    parse: listOf(datacenterCode),
  },
  hostName: {
    help: 'Name of a new host, which it keeps: 1 to 63 letters, digits, and hyphens. A host that joined has the name of its token. Default: a random name',
    default: '',
    parse: (value: string) => (value ? machineName(value) : undefined),
  },
  hostMaxSites: {
    help: 'Maximum number of sites on this host. New sites, and sites that move, then go to other hosts',
    default: '100000',
    parse: wholeNumber(1, 1_000_000),
  },
  smtpUrl: {
    help: 'smtp:// or smtps:// URL of the mail server, with user:password@ to log in. Default: Stead writes mails to the outbox folder of the data folder',
    default: '',
    parse: smtpUrl,
    secret: true,
  },
  mailFrom: {
    help: "Sender of Stead's mails, which the mail server must accept",
    default: 'Stead <stead@localhost>',
    parse: mailbox,
  },
  siteMailsPerHour: {
    help: 'Mails that a site can send per hour, counting each recipient. 0 for none',
    default: '200',
    parse: wholeNumber(0, 1_000_000),
  },
  hostMailsPerHour: {
    help: 'Mails that all sites of a host can send per hour',
    default: '5000',
    parse: wholeNumber(0, 10_000_000),
  },
  stagingMails: {
    help: 'Handling of mails of sites whose environment type is not production: keep (as files in the outbox folder of the data folder, so that copies send no mail) or send',
    default: 'keep',
    parse: choiceOf('keep', 'send'),
  },
  dkimDomain: {
    help: 'Domain for DKIM signatures of mails of sites. Default: no signature by Stead',
    default: '',
    parse: (value: string) => (value ? domain(value) : undefined),
  },
  dkimSelector: {
    help: 'Selector of the DKIM key in the DNS: <selector>._domainkey.<domain>',
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
    help: 'Requests per minute of one application. 0 for no limit',
    default: '600',
    parse: wholeNumber(0, 1_000_000),
  },
  tokenRateLimit: {
    help: 'Token requests per minute of one address. 0 for no limit',
    default: '30',
    parse: wholeNumber(0, 1_000_000),
  },
  trustProxy: {
    help: 'Addresses or networks of HTTP proxies in front of the API and the edge, whose X-Forwarded-For and -Proto are believed; never those of a balancer that only passes connections on',
    default: '',
    parse: listOf(network),
  },
  proxyProtocol: {
    help: 'Addresses or networks of balancers in front of the edge, the API and SFTP that may name the client with the PROXY protocol (version 1 or 2); empty: none',
    default: '',
    parse: listOf(network),
  },
  logLevel: {
    help: 'Lowest severity to log',
    default: 'info',
    parse: choiceOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  logFormat: {
    help: 'How Stead writes its log: text for people, json for programs, or auto: text on a terminal and json elsewhere',
    default: 'auto',
    parse: choiceOf('auto', 'text', 'json'),
  },
} as const satisfies Record<string, Setting<unknown>>

type Settings = typeof settings

/** The key of a setting: `apiListen`. */
export type SettingKey = keyof Settings

/** The current settings, parsed. */
export type Config = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> }

/** An invalid setting. The message names the variable and what it must be. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
}

/** The environment variable of a key: `apiListen` → `STEAD_API_LISTEN`. */
export const variableOf = (key: string): string =>
  `STEAD_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** The command-line flag of a key: `apiListen` → `--api-listen`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/**
 * Reads the settings from flags (`--api-listen=…` already split into a map) and the environment. Flags take precedence.
 * @throws ConfigError naming every invalid or unknown setting, one a line.
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
      faults.push(`${name} is not a setting of Stead (see: stead help settings).${meant(name, known)}`)
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return config as Config
}

function machineName(value: string): string {
  if (!isMachineName(value)) throw new Error('must be 1 to 63 letters, digits, and hyphens, such as host-1')
  return value
}

/** Returns the faults of valid settings that contradict each other. */
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

/** Returns the invalid part of the input: in a list, the one entry. */
function foundIn(error: unknown, given: string | undefined, { secret }: Setting<unknown>): string {
  if (!(error instanceof EntryFault)) return secret ? '' : `, not ${JSON.stringify(given)}`
  return secret ? ` (entry ${error.place} is not)` : `, not ${JSON.stringify(error.entry)}`
}

/** Variables that tell the command line which API to call. They are neither settings nor mistakes. */
const clientVariables = ['STEAD_API_URL', 'STEAD_CLIENT_ID', 'STEAD_CLIENT_SECRET', 'STEAD_PROFILE']

/** A prefix that all names share says nothing about their similarity. */
function meant(name: string, known: ReadonlySet<string>): string {
  const bare = (variable: string) => variable.slice('STEAD_'.length)
  const near = closest(bare(name), [...known].map(bare))
  return near === undefined ? '' : ` Did you mean STEAD_${near}?`
}

/** All settings with variable, flag, default and meaning, for `stead help settings`. */
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

/** Active settings for tests. Each start warns of them. */
export function testSettingsInForce(config: Config): string[] {
  return (Object.entries(settings) as [keyof Settings, Setting<unknown>][])
    .filter(([key, setting]) => setting.testOnly && config[key])
    .map(([key]) => variableOf(key))
}

/** The current settings as `variable → text`, with hidden secrets, for `stead config`. */
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
