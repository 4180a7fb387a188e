const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString()} ${many}`

const list = new Intl.ListFormat('en')

/** Texts for the removal of an account by the operator. */
export const removalTexts = {
  more: (email: string) => `More actions for ${email}`,
  open: 'Remove account…',
  openChange: 'Change date…',
  dialog: {
    remove: {
      title: (email: string) => `Remove ${email}?`,
      effect:
        'Stead suspends the account at once, and deletes it after the days that you choose. Until then you can cancel the removal.',
      button: 'Remove account',
    },
    change: {
      title: (email: string) => `Change the removal of ${email}?`,
      effect: 'The days count from today. Until then you can cancel the removal.',
      button: 'Change date',
    },
  },
  when: 'Delete the account',
  days: (count: number) =>
    count === 0 ? 'Now. You cannot cancel the removal' : `After ${counted(count, 'day', 'days')}`,
  didRemove: (email: string, day: string) => `Removal of ${email} on ${day}`,
  removing: (email: string) => `Removing ${email}`,
  blocked: 'You cannot remove this account yet.',
  remedies: { account_zone_shared: 'Remove the domain from those sites first.' } as Readonly<Record<string, string>>,
  signed: (zones: string) => `Signed zones: ${zones}. Remove their DS records at the registrar first.`,
  report: 'What the removal deletes, and what stays',
  named: (names: readonly string[], total: number) =>
    list.format(total > names.length ? [...names, `${(total - names.length).toLocaleString()} more`] : names),
  sites: (count: number, size: string) => `${counted(count, 'site', 'sites')} (${size})`,
  siteOf: (name: string, isStaging: boolean, isInTrash: boolean) =>
    isInTrash ? `${name} (in the trash)` : isStaging ? `${name} (staging)` : name,
  backups: (count: number, size: string) => `${counted(count, 'backup', 'backups')} (${size})`,
  domains: (count: number) => counted(count, 'domain', 'domains'),
  zones: (count: number) => counted(count, 'DNS zone', 'DNS zones'),
  accounts: (count: number, isPartial: boolean) =>
    `${isPartial ? 'At least ' : ''}${counted(count, 'account of an invited person', 'accounts of invited people')}, with no other access`,
  access: (count: number) => `Access of ${counted(count, 'person', 'people')} to sites of the account`,
  shared: (count: number) => `Access to ${counted(count, 'site of another account', 'sites of other accounts')}`,
  sharedOf: (site: string, owner: string) => `${site} (${owner})`,
  account: (parts: readonly string[]) =>
    parts.length === 0 ? 'The account' : `The account, with ${list.format(parts)}`,
  parts: {
    certificates: ['certificate', 'certificates'],
    credentials: ['API credential', 'API credentials'],
    passkeys: ['passkey', 'passkeys'],
    sessions: ['session', 'sessions'],
    webhooks: ['webhook', 'webhooks'],
    sftp_users: ['SFTP user', 'SFTP users'],
    mu_plugins: ['must-use plugin', 'must-use plugins'],
    operations: ['unfinished operation', 'unfinished operations'],
  },
  part: (count: number, [one, many]: readonly string[]) => counted(count, one ?? '', many ?? ''),
  on: (day: string) => `Removal on ${day}`,
  states: { removing: 'Removing', failed: 'Removal failed' },
  retry: 'Retry removal',
  didRetry: (email: string) => `Retrying the removal of ${email}`,
  cancel: 'Cancel removal',
  didCancel: (email: string) => `Removal of ${email} canceled`,
}
