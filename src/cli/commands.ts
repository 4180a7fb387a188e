import { phpVersions } from '../hosting/php/runtime.ts'
import { runtimeNames } from '../hosting/php/runtime-kinds.ts'
import { planNames } from '../resources/account/plans.ts'
import { allSettings, type Command, command, type Flag } from './command.ts'

/** The flags that every command accepts. */
export const commonFlags: Readonly<Record<string, Flag>> = {
  json: { help: 'print JSON' },
  help: { help: 'show help for the command', short: 'h' },
  version: { help: 'print the version', short: 'v' },
}

/** The nouns that several commands share. */
export const nouns: Readonly<Record<string, string>> = {
  host: 'hosts, and the data folder of this host',
  database: 'the control database',
  key: 'the master key',
  backup: 'backups of the whole installation, and their key',
  account: 'accounts of the API',
  application: 'API credentials for programs',
  site: 'site commands for the operator',
  completion: 'print a completion script for a shell',
}

const email = { value: 'ADDRESS', help: 'e-mail address of the account', needed: true } as const
const hostName = { value: 'NAME', help: 'name of the host', needed: true } as const
const plan = { choices: planNames, help: 'plan of the account' } as const
const name = { value: 'NAME', help: 'display name' } as const
const yesOrNo = ['yes', 'no'] as const
const storageKey = {
  value: 'KEY',
  help: 'printed backup key (default: from STEAD_MASTER_KEY)',
} as const
/** The settings that locate the control database. */
const records = ['dataDir', 'databaseUrl'] as const
/** The settings from which the names of the installation are derived. */
const names = ['apiName', 'panelUrl', 'apiListen', 'stagingDomain', 'dnsNameservers', 'dnsCatalog'] as const
/** The settings that locate backups, and those needed to read them. */
const backups = [
  ...records,
  'masterKey',
  'diskReserveMb',
  'backupDir',
  'backupS3Bucket',
  'backupS3Prefix',
  'backupS3Endpoint',
  'backupS3Region',
  'backupS3AccessKeyId',
  'backupS3SecretAccessKey',
] as const

/**
 * All commands, for parsing, running, completion and `stead help`. Each start loads this file, so it must not import
 * anything large.
 */
export const commands: readonly Command[] = [
  command({
    name: 'serve',
    about: 'run all of Stead on this server',
    settings: allSettings,
    load: async () => (await import('../roles/supervisor.ts')).serve,
  }),
  command({
    name: 'control',
    about: 'run the API only; several can share one PostgreSQL',
    settings: allSettings,
    load: async () => (await import('../roles/role-process.ts')).runPart,
  }),
  command({
    name: 'host',
    about: 'run a host, which stores sites and runs their PHP',
    settings: allSettings,
    load: async () => (await import('../roles/role-process.ts')).runPart,
  }),
  command({
    name: 'edge',
    about: 'run the edge, the gateway for visitors',
    settings: allSettings,
    load: async () => (await import('../roles/role-process.ts')).runPart,
  }),
  command({
    name: 'dns',
    about: 'run the name server for all zones',
    settings: allSettings,
    load: async () => (await import('../roles/role-process.ts')).runPart,
  }),
  command({
    name: 'host list',
    about: 'list hosts, and quarantined directories in this data folder',
    settings: records,
    load: async () => (await import('./host.ts')).list,
  }),
  command({
    name: 'host adopt',
    about: 'bind this data folder to this database; quarantines site directories that the database does not know',
    flags: {
      host: {
        value: 'NAME',
        help: 'name of the host for this folder (default: its current name, or a new one)',
      },
    },
    settings: [...records, 'hostName'],
    load: async () => (await import('./host.ts')).adopt,
  }),
  command({
    name: 'host cordon',
    about: 'keep new sites off a host; its sites stay and run',
    flags: { name: hostName },
    settings: records,
    load: async () => (await import('./host.ts')).cordon,
  }),
  command({
    name: 'host uncordon',
    about: 'let a cordoned host get new sites again',
    flags: { name: hostName },
    settings: records,
    load: async () => (await import('./host.ts')).uncordon,
  }),
  command({
    name: 'host lost',
    about: 'recover the sites of a dead host on other hosts from their backups; refused while it runs',
    flags: { name: hostName, confirm: { value: 'NAME', help: 'the name of the host again, to confirm', needed: true } },
    settings: records,
    load: async () => (await import('./host.ts')).lost,
  }),
  command({
    name: 'host return',
    about: 'let a lost host start again; it quarantines the directories of sites that have moved',
    flags: { name: hostName },
    settings: records,
    load: async () => (await import('./host.ts')).giveBack,
  }),
  command({
    name: 'host remove',
    about: 'take a host that is stopped and has no sites off all lists',
    flags: { name: hostName },
    settings: records,
    load: async () => (await import('./host.ts')).remove,
  }),
  command({
    name: 'host token',
    about: 'create a token with which one machine joins the installation',
    flags: {
      name: { value: 'NAME', help: 'name that the machine gets', needed: true },
      role: { choices: ['host', 'edge', 'control'], help: 'what the machine runs (default: host)' },
      expires: { value: 'MINUTES', help: 'validity of the token, at most 1440 (default: 60)' },
      datacenter: { value: 'CODE,…', help: 'datacenters that the host serves (default: all)' },
      again: { help: 'for a host that exists: its machine gets a new certificate, and the keys of its role' },
    },
    settings: [...records, 'masterKey', 'internalListen', 'datacenters'],
    load: async () => (await import('./host-certificates.ts')).token,
  }),
  command({
    name: 'host revoke',
    about: 'revoke the certificate and the database login of an edge or a control; for a host, use host lost',
    flags: {
      name: { value: 'NAME', help: 'name of the machine', needed: true },
      role: { choices: ['host', 'edge', 'control'], help: 'what the machine runs (default: edge)' },
    },
    settings: records,
    load: async () => (await import('./host-certificates.ts')).revoke,
  }),
  command({
    name: 'join',
    about: 'let this machine join an installation, with a token of stead host token',
    flags: {
      token: { value: 'TOKEN', help: 'token of the control', needed: true },
      control: { value: 'ADDRESS:PORT', help: 'STEAD_INTERNAL_LISTEN of the control', needed: true },
    },
    settings: ['dataDir'],
    load: async () => (await import('./host-certificates.ts')).join,
  }),
  command({
    name: 'host ca',
    about: 'list the authorities that certify the machines of this installation',
    flags: { rotate: { help: 'change to a new authority; both are trusted while certificates are renewed' } },
    settings: [...records, 'masterKey'],
    load: async () => (await import('./host-certificates.ts')).authority,
  }),
  command({
    name: 'database move',
    about:
      'move the control database from the SQLite file of this data folder to an empty PostgreSQL database; stop Stead first',
    flags: {
      to: { value: 'URL', help: 'postgres:// address of the database', needed: true },
      'without-logs': { help: 'do not move the logs of sites' },
    },
    settings: ['dataDir', 'logMb'],
    load: async () => (await import('./installation/database.ts')).move,
  }),
  command({
    name: 'backup create',
    about: 'back up all sites now, then the control database and everything that an empty server needs to restore it',
    flags: { 'records-only': { help: 'create no new backups of sites; use the newest backup of each site' } },
    settings: backups,
    load: async () => (await import('./installation/own-backups.ts')).create,
  }),
  command({
    name: 'backup list',
    about: 'list backups of the control database, or of a site, newest first',
    flags: { site: { value: 'ID', help: 'number of a site' }, key: storageKey },
    settings: backups,
    load: async () => (await import('./installation/own-backups.ts')).list,
  }),
  command({
    name: 'backup export',
    about: 'write backups of a site to files (.tar.bz2, .sql), even if Stead no longer runs',
    flags: {
      site: { value: 'ID', help: 'number of the site', needed: true },
      backup: { value: 'NUMBER', help: 'one backup (default: the newest file backup and the newest database backup)' },
      to: { value: 'FOLDER', help: 'default: the current directory' },
      key: storageKey,
    },
    settings: backups,
    load: async () => (await import('./site-backups.ts')).exportFiles,
  }),
  command({
    name: 'backup verify',
    about: 'verify a backup of the control database by reading it completely',
    flags: { name: { value: 'NAME', help: 'default: the newest' } },
    settings: backups,
    load: async () => (await import('./installation/own-backups.ts')).verify,
  }),
  command({
    name: 'restore',
    about:
      'restore the installation from the backup storage to an empty data folder; the next start restores its sites',
    flags: {
      key: storageKey,
      backup: { value: 'NAME', help: 'backup of the control database (default: the newest)' },
      host: { value: 'NAME', help: 'name of the host for this folder, if the installation had several' },
      trial: { help: 'test restore: the backups keep belonging to the original installation' },
    },
    settings: backups,
    load: async () => (await import('./installation/restore.ts')).restore,
  }),
  command({
    name: 'key accept',
    about: 'accept the current master key, or create a new one; secrets sealed with the old key are lost',
    settings: [...records, 'masterKey'],
    load: async () => (await import('./installation/key.ts')).accept,
  }),
  command({
    name: 'backup key',
    about: 'print the key that seals all backups; keep it in a safe, because backups need it or the master key',
    settings: [...records, 'masterKey'],
    load: async () => (await import('./installation/backup-key.ts')).print,
  }),
  command({
    name: 'backup accept-key',
    about: 'enter the printed backup key after the master key was lost',
    flags: { file: { value: 'FILE', help: 'file with the printed key, or - for standard input', needed: true } },
    settings: [
      ...records,
      'masterKey',
      'diskReserveMb',
      'backupDir',
      'backupS3Bucket',
      'backupS3Prefix',
      'backupS3Endpoint',
      'backupS3Region',
      'backupS3AccessKeyId',
      'backupS3SecretAccessKey',
    ],
    load: async () => (await import('./installation/backup-key.ts')).accept,
  }),
  command({
    name: 'backup take-over',
    about: 'let only this copy of an installation change the backups',
    settings: backups,
    load: async () => (await import('./installation/own-backups.ts')).takeOverBackups,
  }),
  command({
    name: 'account create',
    about: 'create an account',
    flags: { email, name, plan },
    settings: records,
    load: async () => (await import('./account.ts')).create,
  }),
  command({
    name: 'account list',
    about: 'list all accounts',
    settings: records,
    load: async () => (await import('./account.ts')).list,
  }),
  command({
    name: 'account update',
    about: 'change the details of an account',
    flags: {
      email,
      name,
      organization: { value: 'NAME', help: 'organization' },
      phone: { value: 'NUMBER', help: 'phone number' },
      affiliate: { choices: yesOrNo, help: 'whether the account is an affiliate' },
      preview: { choices: yesOrNo, help: 'whether the account is a preview' },
      'one-time-login': { choices: yesOrNo, help: 'whether one-time login links work on its sites' },
      'automatic-updates': {
        choices: yesOrNo,
        help: 'whether its sites get WordPress security releases automatically',
      },
    },
    settings: records,
    load: async () => (await import('./account.ts')).update,
  }),
  command({
    name: 'account link',
    about: 'create a link to set the password of the control panel; it works once within one week',
    flags: { email },
    settings: [...records, 'panelUrl', 'apiListen'],
    load: async () => (await import('./account.ts')).link,
  }),
  command({
    name: 'account set-plan',
    about: 'change the plan of an account',
    flags: { email, plan: { ...plan, needed: true } },
    settings: records,
    load: async () => (await import('./account.ts')).changePlan,
  }),
  command({
    name: 'application create',
    about: 'create API credentials; the secret is shown only once',
    flags: {
      account: email,
      name: { value: 'NAME', help: 'purpose of the credentials', needed: true },
      owner: { help: 'with account owner permission' },
    },
    settings: records,
    load: async () => (await import('./application.ts')).create,
  }),
  command({
    name: 'application list',
    about: 'list API credentials',
    flags: { account: { value: 'ADDRESS', help: 'only those of this account' } },
    settings: records,
    load: async () => (await import('./application.ts')).list,
  }),
  command({
    name: 'application revoke',
    about: 'revoke API credentials and their tokens immediately',
    flags: { 'client-id': { value: 'ID', help: 'client id of the credentials', needed: true } },
    settings: records,
    load: async () => (await import('./application.ts')).revoke,
  }),
  command({
    name: 'site restore',
    about: 'restore a deleted site from the trash',
    flags: { name: { value: 'NAME', help: 'name of the site', needed: true } },
    settings: [...records, ...names],
    load: async () => (await import('./site.ts')).restore,
  }),
  command({
    name: 'site move',
    about: 'move a site between native PHP with MariaDB and PHP in WebAssembly with SQLite',
    flags: {
      name: { value: 'NAME', help: 'name of the site', needed: true },
      runtime: { choices: runtimeNames, help: 'runtime after the move', needed: true },
      'php-version': { choices: phpVersions, help: 'PHP version after the move (default: the current version)' },
    },
    settings: records,
    load: async () => (await import('./site.ts')).move,
  }),
  command({
    name: 'trust',
    about:
      "make this computer and its browsers trust Stead's certificates for local sites, such as https://my-site.localhost",
    flags: {
      remove: { help: 'stop trusting these certificates' },
      check: { help: 'show which stores trust them, without changes' },
      print: { help: "print the authority's certificate (PEM) for other computers and programs" },
      only: { choices: ['system', 'browsers'], help: "only the system store, or only those of this user's browsers" },
    },
    settings: [...records, 'masterKey', 'stagingDomain', 'localAuthority', 'edgeTlsListen'],
    load: async () => (await import('./trust.ts')).trust,
  }),
  command({
    name: 'setup',
    about: 'write the settings of a Debian package by answering five questions, or with these flags; ends with doctor',
    flags: {
      domain: { value: 'DOMAIN', help: 'domain for the first addresses of sites' },
      mail: { value: 'URL', help: 'mail server, smtp://user:password@host:587, or none' },
      backups: {
        value: 'PLACE',
        help: 'folder of backups, or s3://bucket/prefix with --backup-s3-endpoint, --backup-s3-access-key-id and --backup-s3-secret-access-key',
      },
      php: { value: 'KIND', help: 'PHP and database of sites: wasm, or native for php-fpm and MariaDB of the server' },
      email: { value: 'ADDRESS', help: 'e-mail address of the first account' },
      'panel-name': { value: 'NAME', help: 'host name of the control panel (default: panel beside the domain)' },
      address: { value: 'ADDRESSES', help: 'public IP addresses of the server (default: those of its interfaces)' },
      'agree-to-terms': { help: "agree to the terms of Let's Encrypt, which issues the certificates" },
      unchecked: { help: 'accept flags even if a server that they name does not respond' },
      restart: { help: 'restart the service afterwards' },
      file: { value: 'FILE', help: 'settings file (default: /etc/stead/stead.env)' },
    },
    load: async () => (await import('./setup/setup.ts')).setUp,
  }),
  command({
    name: 'config',
    about: 'print the current settings, without secrets',
    settings: allSettings,
    load: async () => (await import('./config.ts')).print,
  }),
  command({
    name: 'doctor',
    about: 'check this server and the installation, and show what to do; exit code 1 if there is a problem',
    settings: allSettings,
    load: async () => (await import('../roles/doctor.ts')).doctor,
  }),
  command({
    name: 'upgrade',
    about: 'with --check: show what the next start changes in the control database, and how long that takes',
    flags: { check: { help: 'change nothing; exit code 1 if the database has no backup of the last day' } },
    settings: records,
    load: async () => (await import('./installation/upgrade.ts')).upgrade,
  }),
  command({
    name: 'openapi',
    about: 'print the OpenAPI document of the API',
    load: async () => (await import('./openapi.ts')).print,
  }),
  ...(['bash', 'zsh', 'fish'] as const).map((shell) =>
    command({
      name: `completion ${shell}`,
      about: {
        bash: 'source <(stead completion bash)',
        zsh: 'source <(stead completion zsh)',
        fish: 'stead completion fish | source',
      }[shell],
      load: async () => (await import('./completion.ts')).printFor(shell),
    }),
  ),
  command({ name: 'version', about: 'print the version', load: async () => (await import('./version.ts')).print }),
  command({
    name: 'help',
    about: 'show help for Stead or for one command; "help settings" lists all settings',
    flags: { markdown: { help: 'print "help settings" as a page' } },
    takesTopic: true,
    load: async () => (await import('./help.ts')).print,
  }),
]

/** Returns the words that may follow a noun: the verbs of its commands, each with its description. */
export const verbsOf = (noun: string): (readonly [verb: string, about: string])[] =>
  commands.flatMap(({ name, about }) =>
    name.startsWith(`${noun} `) ? [[name.slice(noun.length + 1), about] as const] : [],
  )
