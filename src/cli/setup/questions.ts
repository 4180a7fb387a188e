import { isAbsolute, join } from 'node:path'
import { getDomain } from 'tldts'
import { localDomainOf } from '../../certificates/local-domain.ts'
import { settings, variableOf } from '../../config.ts'
import type { Check } from '../../roles/checks/check.ts'
import { mailCheck } from '../../roles/checks/mail.ts'
import { mariaDbCheck } from '../../roles/checks/mariadb.ts'
import { phpCheck } from '../../roles/checks/php.ts'
import { storageCheck } from '../../roles/checks/storage.ts'
import type { SettingChanges, SettingTexts } from './settings-file.ts'

/** The flags that answer the questions. */
export const questionFlags = ['domain', 'mail', 'backups', 'php', 'email'] as const
export type QuestionFlag = (typeof questionFlags)[number]

/** Returns details of an answer: of a flag or a setting, or by asking. */
export interface Details {
  /** Returns the text of a setting flag such as `--backup-s3-endpoint`, or asks for it. Empty: none. */
  setting(key: SettingName, question: string, isSecret?: boolean): Promise<string>
  /** Returns the public addresses of this server, separated by commas. */
  addresses(): Promise<string>
  panelName(usual: string): Promise<string>
  /** Whether the terms of the certificate authority are accepted. */
  agreesToTerms(): Promise<boolean>
}

type SettingName = keyof typeof settings

export interface Question {
  readonly flag: QuestionFlag
  readonly about: string
  readonly text: string
  /** Returns the answer that the settings contain. */
  current(values: SettingTexts): string | undefined
  /** Returns the answer to offer the first time. */
  usual(values: SettingTexts): string | undefined
  /** Returns what the answer changes. @throws Error with what the answer must be */
  changes(answer: string, values: SettingTexts, details: Details): Promise<SettingChanges>
  /** Checks that test the answer. */
  checks(answer: string): readonly Check[]
  /** Whether warnings of the checks refuse the answer, too. */
  readonly isStrict?: boolean
}

export const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'
const NONE = 'none'
/** The service may listen there without being root. */
const PANEL_PORT = '8443'

/** Returns whether setup has run before, so that answers without a setting were given. */
const isSetUp = (values: SettingTexts): boolean => values.STEAD_STAGING_DOMAIN !== undefined

/** Returns the change if nobody has chosen another value. */
const unlessChosen = (values: SettingTexts, key: SettingName, value: string): SettingChanges => {
  const name = variableOf(key)
  const now = values[name]
  return now === undefined || now === settings[key].default ? { [name]: value } : {}
}

/** Returns the panel's usual name: beside the domain of sites, or below it if nothing is beside it. */
function usualPanelName(domain: string): string {
  const isRegistrable = domain === getDomain(domain) || !domain.includes('.')
  return `panel.${isRegistrable ? domain : domain.slice(domain.indexOf('.') + 1)}`
}

const domainQuestion: Question = {
  flag: 'domain',
  about: 'Each site gets a first address below a domain of yours. Its DNS needs a wildcard record for this server.',
  text: 'Domain for sites, such as sites.example.com',
  current: (values) => values.STEAD_STAGING_DOMAIN,
  usual: () => undefined,
  async changes(answer, values, details) {
    const domain = settings.stagingDomain.parse(answer)
    if (!domain.includes('.')) throw new Error('must be a domain with a dot, such as sites.example.com')
    const panel = settings.apiName.parse(await details.panelName(usualPanelName(domain))) as string
    const tlsPort = /:(\d+)$/.exec(values.STEAD_API_TLS_LISTEN ?? '')?.[1] ?? PANEL_PORT
    const listeners = {
      ...unlessChosen(values, 'edgeListen', '0.0.0.0:80'),
      ...unlessChosen(values, 'edgeTlsListen', '0.0.0.0:443'),
      ...unlessChosen(values, 'apiTlsListen', `0.0.0.0:${PANEL_PORT}`),
    }
    const names = {
      STEAD_STAGING_DOMAIN: domain,
      STEAD_API_NAME: panel,
      STEAD_PANEL_URL: `https://${panel}${tlsPort === '443' ? '' : `:${tlsPort}`}`,
    }
    if (localDomainOf({ localAuthority: 'auto', stagingDomain: domain }) !== undefined)
      return { ...listeners, ...names }
    const addresses = { STEAD_EDGE_ADDRESSES: await details.addresses() }
    const isAgreed = values.STEAD_ACME_TERMS_AGREED === 'true' || (await details.agreesToTerms())
    const authority = unlessChosen(values, 'acmeDirectory', LETS_ENCRYPT)
    return { ...listeners, ...names, ...addresses, ...(isAgreed && { ...authority, STEAD_ACME_TERMS_AGREED: 'true' }) }
  },
  checks: () => [],
}

const mailQuestion: Question = {
  flag: 'mail',
  about: 'Stead sends invitations and warnings through a mail server. Sites use it, too.',
  text: 'Mail server, such as smtp://user:password@mail.example.com:587, or none',
  current: (values) => values.STEAD_SMTP_URL ?? (isSetUp(values) ? NONE : undefined),
  usual: () => undefined,
  async changes(answer, values) {
    if (answer === NONE) return { STEAD_SMTP_URL: undefined }
    const url = settings.smtpUrl.parse(answer) as string
    // Servers accept the address of the user who logs in.
    const user = decodeURIComponent(new URL(url).username)
    const from = user.includes('@') ? user : `stead@${values.STEAD_STAGING_DOMAIN}`
    return { STEAD_SMTP_URL: url, ...unlessChosen(values, 'mailFrom', `Stead <${from}>`) }
  },
  checks: (answer) => (answer === NONE ? [] : [mailCheck]),
}

const noBucket: SettingChanges = {
  STEAD_BACKUP_S3_BUCKET: undefined,
  STEAD_BACKUP_S3_PREFIX: undefined,
  STEAD_BACKUP_S3_ENDPOINT: undefined,
  STEAD_BACKUP_S3_REGION: undefined,
  STEAD_BACKUP_S3_ACCESS_KEY_ID: undefined,
  STEAD_BACKUP_S3_SECRET_ACCESS_KEY: undefined,
}

const backupsQuestion: Question = {
  flag: 'backups',
  about: 'Backups belong on another disk, or in an S3 bucket. Without one, they are lost with the disk of the sites.',
  text: 'Storage of backups, such as /mnt/backups or s3://bucket/prefix',
  current: ({ STEAD_BACKUP_S3_BUCKET: bucket, STEAD_BACKUP_S3_PREFIX: prefix, STEAD_BACKUP_DIR: folder }) =>
    bucket === undefined ? folder : `s3://${bucket}${prefix === undefined ? '' : `/${prefix}`}`,
  usual: (values) => join(values.STEAD_DATA_DIR ?? settings.dataDir.default, 'backups'),
  async changes(answer, _values, details) {
    const [, bucket, prefix] = /^s3:\/\/([^/\s]+)(?:\/(\S+?))?\/?$/.exec(answer) ?? []
    if (bucket === undefined) {
      if (!isAbsolute(answer)) throw new Error('must be a folder such as /mnt/backups, or s3://bucket/prefix')
      return { STEAD_BACKUP_DIR: answer, ...noBucket }
    }
    const endpoint = await details.setting('backupS3Endpoint', 'URL of the S3 service (empty for Amazon)')
    const region = await details.setting('backupS3Region', 'Region (empty for us-east-1)')
    const key = await details.setting('backupS3AccessKeyId', "Access key (empty for this server's own credentials)")
    const secret = key && (await details.setting('backupS3SecretAccessKey', 'Secret of the access key', true))
    return {
      STEAD_BACKUP_DIR: undefined,
      STEAD_BACKUP_S3_BUCKET: bucket,
      STEAD_BACKUP_S3_PREFIX: prefix,
      STEAD_BACKUP_S3_ENDPOINT: endpoint || undefined,
      STEAD_BACKUP_S3_REGION: region || undefined,
      STEAD_BACKUP_S3_ACCESS_KEY_ID: key || undefined,
      STEAD_BACKUP_S3_SECRET_ACCESS_KEY: secret || undefined,
    }
  },
  checks: () => [storageCheck],
}

const phpQuestion: Question = {
  flag: 'php',
  about:
    "wasm: Stead's own PHP with SQLite, which needs nothing else. native: this server's php-fpm and MariaDB, which is faster and needs root.",
  text: 'PHP and database of sites, wasm or native',
  current: ({ STEAD_RUNTIME: runtime, ...values }) =>
    runtime === undefined ? (isSetUp(values) ? 'wasm' : undefined) : runtime === 'wasm' ? 'wasm' : 'native',
  usual: () => 'wasm',
  async changes(answer, values) {
    if (answer === 'wasm') return { STEAD_RUNTIME: 'wasm' }
    if (answer !== 'native') throw new Error('must be wasm or native')
    const hasServer = values.STEAD_MARIADB_URL !== undefined
    return { STEAD_RUNTIME: 'auto', ...(!hasServer && { STEAD_MARIADB: 'own' }) }
  },
  checks: (answer) => (answer === 'wasm' ? [] : [phpCheck, mariaDbCheck]),
  isStrict: true,
}

const emailQuestion: Question = {
  flag: 'email',
  about: 'The first account runs the installation. It gets mails about problems.',
  text: 'E-mail address of the first owner',
  current: (values) => values.STEAD_ACCOUNT_EMAIL,
  usual: () => undefined,
  async changes(answer, values) {
    const email = settings.accountEmail.parse(answer)
    const isPublic = values.STEAD_ACME_TERMS_AGREED === 'true'
    return { STEAD_ACCOUNT_EMAIL: email, ...(isPublic && unlessChosen(values, 'acmeEmail', email)) }
  },
  checks: () => [],
}

/** The questions of `stead setup`, in order. */
export const questions: readonly Question[] = [
  domainQuestion,
  mailQuestion,
  backupsQuestion,
  phpQuestion,
  emailQuestion,
]
