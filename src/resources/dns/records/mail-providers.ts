import type { RecordDraft } from './record.ts'

/* The public DNS records of mail providers. */

export const mailProviders = [
  'google_workspace',
  'microsoft_365',
  'zoho_mail',
  'icloud_mail',
  'titan_mail',
  'rackspace_email',
] as const
export type MailProvider = (typeof mailProviders)[number]

/** Other codes that clients use for them. */
export const aliases: Readonly<Record<string, MailProvider>> = {
  'g-suite': 'google_workspace',
  'microsoft-office365': 'microsoft_365',
  'zoho-mail': 'zoho_mail',
  'apple-icloud-mail': 'icloud_mail',
  'titan-mail': 'titan_mail',
}

export interface Provider {
  readonly title: string
  /** Priority and host. */
  readonly mx: readonly (readonly [number, string])[]
  readonly spf: string
  /** Name and target. */
  readonly aliases?: readonly (readonly [string, string])[]
  /** Name, priority, weight, port, target. */
  readonly services?: readonly (readonly [string, number, number, number, string])[]
  /** A hint about records that only the provider can give. */
  readonly missing?: string
}

const ownDkim = 'add the records for DKIM and proof of ownership from the administration of your account there'

/** In names, `{zone}` and `{dashed zone}` stand for the zone that the records are for. */
export const providers: Readonly<Record<MailProvider, Provider>> = {
  google_workspace: {
    title: 'Google Workspace',
    mx: [
      [1, 'aspmx.l.google.com'],
      [5, 'alt1.aspmx.l.google.com'],
      [5, 'alt2.aspmx.l.google.com'],
      [10, 'alt3.aspmx.l.google.com'],
      [10, 'alt4.aspmx.l.google.com'],
    ],
    spf: 'v=spf1 include:_spf.google.com ~all',
    missing: ownDkim,
  },
  microsoft_365: {
    title: 'Microsoft 365',
    mx: [[0, '{dashed zone}.mail.protection.outlook.com']],
    spf: 'v=spf1 include:spf.protection.outlook.com -all',
    aliases: [
      ['autodiscover', 'autodiscover.outlook.com'],
      ['sip', 'sipdir.online.lync.com'],
      ['lyncdiscover', 'webdir.online.lync.com'],
      ['enterpriseregistration', 'enterpriseregistration.windows.net'],
      ['enterpriseenrollment', 'enterpriseenrollment.manage.microsoft.com'],
    ],
    services: [
      ['_sip._tls', 100, 1, 443, 'sipdir.online.lync.com'],
      ['_sipfederationtls._tcp', 100, 1, 5061, 'sipfed.online.lync.com'],
    ],
    missing: ownDkim,
  },
  zoho_mail: {
    title: 'Zoho Mail',
    mx: [
      [10, 'mx.zoho.com'],
      [20, 'mx2.zoho.com'],
      [50, 'mx3.zoho.com'],
    ],
    spf: 'v=spf1 include:zohomail.com ~all',
    missing: ownDkim,
  },
  icloud_mail: {
    title: 'iCloud Mail',
    mx: [
      [10, 'mx01.mail.icloud.com'],
      [10, 'mx02.mail.icloud.com'],
    ],
    spf: 'v=spf1 include:icloud.com ~all',
    aliases: [['sig1._domainkey', 'sig1.dkim.{zone}.at.icloudmailadmin.com']],
  },
  titan_mail: {
    title: 'Titan Mail',
    mx: [
      [10, 'mx1.titan.email'],
      [20, 'mx2.titan.email'],
    ],
    spf: 'v=spf1 include:spf.titan.email ~all',
  },
  rackspace_email: {
    title: 'Rackspace Email',
    mx: [
      [10, 'mx1.emailsrvr.com'],
      [20, 'mx2.emailsrvr.com'],
    ],
    spf: 'v=spf1 include:emailsrvr.com ~all',
    aliases: [['autodiscover', 'autodiscover.emailsrvr.com']],
  },
}

const TTL = 3600
const blank = { priority: null, weight: null, port: null, ttl: TTL, siteId: null }

/** Returns all records of a provider except its SPF text. */
export function providerRecords({ mx, aliases = [], services = [] }: Provider, zone: string): RecordDraft[] {
  const named = (target: string) => target.replace('{zone}', zone).replace('{dashed zone}', zone.replaceAll('.', '-'))
  return [
    ...mx.map(([priority, host]) => ({ ...blank, type: 'MX' as const, name: '', value: named(host), priority })),
    ...aliases.map(([name, host]) => ({ ...blank, type: 'CNAME' as const, name, value: named(host) })),
    ...services.map(([name, priority, weight, port, host]) => ({
      ...blank,
      ...{ type: 'SRV' as const, name, value: host, priority, weight, port },
    })),
  ]
}
