import { totalmem } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ConfigError,
  flagOf,
  printableConfig,
  printableSettings,
  readConfig,
  settings,
  testSettingsInForce,
  variableOf,
} from './config.ts'

const faultsOf = (environment: Record<string, string>, flags: Record<string, string> = {}): string[] => {
  try {
    readConfig(environment, flags)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

describe('defaults', () => {
  test('are all valid', () => {
    const config = readConfig({})
    expect(config.apiListen).toEqual({ host: '127.0.0.1', port: 8080 })
    expect(config.edgeListen).toEqual({ host: '127.0.0.1', port: 8081 })
    expect(config.dataDir).toBe(resolve('data'))
    expect(config.databaseUrl).toBeUndefined()
    expect(config.phpMemoryMb).toBe(Math.floor(totalmem() / 2 ** 21))
    expect(config.datacenters.map(({ code }) => code)).toEqual(['AMS', 'BUR', 'DCA', 'DFW'])
    expect(testSettingsInForce(config)).toEqual([])
  })

  test('treat an empty or blank value as unset', () => {
    expect(readConfig({ STEAD_RATE_LIMIT: ' ', STEAD_API_LISTEN: '' })).toEqual(readConfig({}))
  })
})

test('a flag takes precedence over the environment', () => {
  const config = readConfig({ STEAD_RATE_LIMIT: '1', STEAD_SPARE_SITES: '2' }, { '--rate-limit': '3' })
  expect([config.rateLimit, config.spareSites]).toEqual([3, 2])
})

test('the API client variables of the command line are accepted in a server environment', () => {
  const client = {
    STEAD_API_URL: 'https://api.example.com',
    STEAD_CLIENT_ID: 'i',
    STEAD_CLIENT_SECRET: 's',
    STEAD_PROFILE: 'p',
  }
  expect(readConfig(client)).toEqual(readConfig({}))
})

test('variable and flag of a key', () => {
  expect([variableOf('phpMemoryLimitMb'), flagOf('phpMemoryLimitMb')]).toEqual([
    'STEAD_PHP_MEMORY_LIMIT_MB',
    '--php-memory-limit-mb',
  ])
})

describe('an invalid value is reported with its reason', () => {
  test.each([
    ['apiListen', '8080', 'an address and a port'],
    ['edgeListen', '127.0.0.1:70000', 'an address and a port'],
    ['acmeDirectory', 'letsencrypt', 'an http or https address'],
    ['acmeTermsAgreed', 'perhaps', 'true or false'],
    ['edgeTlsListen', 'on', 'an address and a port'],
    ['apiTlsListen', 'on', 'an address and a port'],
    ['internalListen', 'on', 'an address and a port'],
    ['apiName', 'Api.Example', 'a lower-case domain name'],
    ['edgeTlsPublicPort', '0', 'a whole number from 1 to 65535'],
    ['hostListen', '::1:80', 'an address and a port'],
    ['resolvers', '192.0.2.53,ns.example.com', 'addresses of name servers'],
    ['resolvers', '192.0.2.53:70000', 'addresses of name servers'],
    ['sftpListen', 'on', 'an address and a port'],
    ['wpCliSource', 'wp-cli.phar', 'an http or https address'],
    ['adminerSource', 'adminer.php', 'an http or https address'],
    ['dnsListen', 'on', 'an address and a port'],
    ['dnsListen', '192.0.2.53:53,::1:53', 'an address and a port'],
    ['dnsProcesses', '0', 'a whole number from 1 to 64'],
    ['dnsNameservers', 'ns1.example.com,NS2', 'a lower-case domain name'],
    ['dnsSecondaries', 'ns.example.com', 'IP addresses'],
    ['dnsSecondaries', '192.0.2.1:0', 'IP addresses'],
    ['dnsSecondaries', '192.0.2.1=A key', 'a lower-case domain name'],
    ['dnsTsigKeys', 'key=c2hvcnQ=', 'like name=<16 bytes or more in base64>'],
    ['dnsCatalog', 'Catalog', 'a lower-case domain name'],
    ['dnsRateLimit', '-1', 'a whole number from 0'],
    ['backupS3Endpoint', 'minio:9000', 'an http or https address'],
    ['databaseUrl', 'mysql://db', 'a postgres:// address'],
    ['masterKey', 'c2hvcnQ=', '32 bytes in base64'],
    ['stagingDomain', 'Sites.Example', 'a lower-case domain name'],
    ['edgeAddresses', '192.0.2.1,edge.example.com', 'IP addresses'],
    ['edgeAddresses', 'fe80::1%eth0', 'IP addresses'],
    ['hostName', 'host 1', '1 to 63 letters, digits, and hyphens'],
    ['hostName', '-host', '1 to 63 letters'],
    ['edgePublicPort', '0', 'a whole number from 1 to 65535'],
    ['trustProxy', '10.0.0.5,proxy.internal', 'IP addresses or networks'],
    ['trustProxy', '10.0.0.0/33', 'IP addresses or networks'],
    ['trustProxy', '*', 'IP addresses or networks'],
    ['trustProxy', '10.0.0.0/8/8', 'IP addresses or networks'],
    ['proxyProtocol', 'fe80::1%eth0', 'IP addresses or networks'],
    ['corsOrigins', 'https://app.example.com/', 'origins without a path'],
    ['corsOrigins', 'https://App.example.com', 'origins without a path'],
    ['corsOrigins', 'app.example.com', 'origins without a path'],
    ['hostDatacenters', 'ams', 'codes of datacenters'],
    ['accountEmail', 'owner', 'an e-mail address'],
    ['addons', 'owner', 'one of operator, all'],
    ['acmeEmail', 'mailto:you@example.com', 'an e-mail address'],
    ['acmeEabKey', 'short', 'a key in base64url'],
    ['coreVersion', 'newest', 'latest or a version'],
    ['trashDays', '366', 'a whole number from 0 to 365'],
    ['wordpressApi', 'ftp://example.com', 'an http or https address'],
    ['measureBackups', 'sometimes', 'true or false'],
    ['allowPrivateFetch', 'maybe', 'true or false'],
    ['mariadb', 'mine', 'one of off, own'],
    ['mariadbUrl', 'db.example.com', 'like mariadb://user:password@'],
    ['mariadbUrl', 'mariadb://db.example.com', 'like mariadb://user:password@'],
    ['sandbox', 'docker', 'one of auto, bubblewrap, none'],
    ['runtime', 'docker', 'one of wasm, native, auto'],
    ['spareSites', '9', 'a whole number from 0 to 8'],
    ['preparedSites', '1.5', 'a whole number from 0 to 64'],
    ['phpMemoryMb', '-1', 'a whole number from 0'],
    ['phpProcessMemoryMb', 'much', 'a whole number from 256'],
    ['phpMemoryLimitMb', '32', 'a whole number from 64'],
    ['phpRequestSeconds', '0', 'a whole number from 1'],
    ['phpIdleSeconds', '0', 'a whole number from 1'],
    ['phpReadySites', '1001', 'a whole number from 0'],
    ['phpQueue', '0', 'a whole number from 1'],
    ['uploadMaxMb', '4096', 'a whole number from 1 to 2048'],
    ['datacenters', 'Amsterdam', 'like AMS=Amsterdam'],
    ['siteMailsPerHour', '-1', 'a whole number from 0'],
    ['hostMailsPerHour', 'many', 'a whole number from 0'],
    ['stagingMails', 'drop', 'one of keep, send'],
    ['dkimDomain', 'Example', 'a lower-case domain name'],
    ['dkimSelector', 'a b', 'a lower-case domain name'],
    ['rateLimit', '1e9', 'a whole number from 0'],
    ['tokenRateLimit', 'none', 'a whole number from 0'],
    ['logLevel', 'loud', 'one of fatal, error'],
    ['logFormat', 'xml', 'one of auto, text, json'],
  ])('%s: %s', (key, value, reason) => {
    const [fault, ...others] = faultsOf({ [variableOf(key)]: value })
    expect(others).toEqual([])
    expect(fault).toMatch(new RegExp(`^${variableOf(key)} must be ${reason.replace(/[/]/g, '\\/')}`))
    expect(faultsOf({}, { [flagOf(key)]: value })[0]).toMatch(new RegExp(`^${flagOf(key)} must be `))
  })

  test('an invalid entry of a list is reported by value, and of a secret list by position', () => {
    expect(faultsOf({ STEAD_TRUST_PROXY: '10.0.0.1, proxy.internal', STEAD_DNS_TSIG_KEYS: 'a=b' })).toEqual([
      'STEAD_DNS_TSIG_KEYS must be like name=<16 bytes or more in base64> (openssl rand -base64 32) (entry 1 is not)',
      'STEAD_TRUST_PROXY must be IP addresses or networks, such as 192.0.2.10,10.0.0.0/8,2001:db8::/32, not "proxy.internal"',
    ])
  })

  test('references to other settings name existing ones', () => {
    expect(faultsOf({ STEAD_HOST_DATACENTERS: 'AMS,ZRH', STEAD_DNS_SECONDARIES: '192.0.2.1=key.example' })).toEqual([
      'STEAD_HOST_DATACENTERS must be codes of STEAD_DATACENTERS, such as AMS, not "ZRH"',
      'STEAD_DNS_SECONDARIES must name keys of STEAD_DNS_TSIG_KEYS, such as key.example=<base64>: there is no "key.example"',
    ])
  })

  test('settings that belong together must be set together', () => {
    expect(faultsOf({ STEAD_ACME_EAB_KID: 'kid-1' })).toEqual([
      'STEAD_ACME_EAB_KID and STEAD_ACME_EAB_KEY must be set together: the authority gives you both',
    ])
  })

  test('origins of apps, and all origins', () => {
    const { corsOrigins } = readConfig({ STEAD_CORS_ORIGINS: 'capacitor://localhost,http://[::1]:3000,*' })
    expect(corsOrigins).toEqual(['capacitor://localhost', 'http://[::1]:3000', '*'])
  })

  test('all errors are reported together, one a line, with unknown variables', () => {
    const faults = faultsOf({ STEAD_RATE_LIMIT: 'x', STEAD_QUEUE: '1', STEAD_SANDBOX: 'y', PATH: '/bin' })
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['STEAD_SANDBOX', 'STEAD_RATE_LIMIT', 'STEAD_QUEUE'])
  })

  test('an unknown variable is reported with a suggestion', () => {
    expect(faultsOf({ STEAD_EDGE_LISEN: ':1', STEAD_NONSENSE: '1' })).toEqual([
      'STEAD_EDGE_LISEN is not a setting of Stead (see: stead help settings). Did you mean STEAD_EDGE_LISTEN?',
      'STEAD_NONSENSE is not a setting of Stead (see: stead help settings).',
    ])
  })

  test('a secret is not repeated', () => {
    const faults = faultsOf({ STEAD_MASTER_KEY: 'almost-a-key', STEAD_DATABASE_URL: 'postgre://me:pass@db/x' })
    expect(faults).toHaveLength(2)
    expect(faults.join()).not.toMatch(/almost|pass/)
  })
})

test('the printed settings hide secrets and parse to the same values', () => {
  const given = {
    STEAD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    STEAD_DATABASE_URL: 'postgres://me:pass@db/stead',
    STEAD_DATACENTERS: 'AA=One,BB=Two',
    STEAD_CORS_ORIGINS: 'https://a.example,https://b.example',
    STEAD_API_LISTEN: '[::1]:99',
  }
  const printed = Object.fromEntries(printableConfig(readConfig(given)).map(({ name, value }) => [name, value]))
  expect([printed.STEAD_MASTER_KEY, printed.STEAD_DATABASE_URL]).toEqual(['(set)', '(set)'])
  expect(Object.keys(printed)).toEqual(Object.keys(settings).map(variableOf))
  expect(readConfig({ ...printed, ...given })).toEqual(readConfig(given))
})

test('settings for tests are recognized', () => {
  const config = readConfig({ STEAD_ALLOW_PRIVATE_FETCH: 'yes', STEAD_WORDPRESS_API: 'http://127.0.0.1:1/' })
  expect(testSettingsInForce(config).sort()).toEqual(['STEAD_ALLOW_PRIVATE_FETCH', 'STEAD_WORDPRESS_API'])
  expect(printableSettings().filter(({ testOnly }) => testOnly)).toHaveLength(2)
})

test('secondary servers, with ports and keys', () => {
  const { dnsSecondaries, dnsTsigKeys } = readConfig({
    STEAD_DNS_SECONDARIES: '192.0.2.1, 2001:db8::1, [2001:db8::2]:5300=key.example,192.0.2.2:54',
    STEAD_DNS_TSIG_KEYS: `key.example=${Buffer.alloc(32, 1).toString('base64')}`,
  })
  expect(dnsSecondaries).toEqual([
    { host: '192.0.2.1', port: 53 },
    { host: '2001:db8::1', port: 53 },
    { host: '2001:db8::2', port: 5300, keyName: 'key.example' },
    { host: '192.0.2.2', port: 54 },
  ])
  expect(dnsTsigKeys?.get('key.example')).toEqual(Buffer.alloc(32, 1))
})
