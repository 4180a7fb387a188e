import { phpVersions } from '../hosting/php/runtime.ts'
import { planNames } from '../resources/account/plans.ts'
import { allSettings, type Command, command, type Flag } from './command.ts'

/** Flags that every command takes. */
export const commonFlags: Readonly<Record<string, Flag>> = {
  json: { help: 'print JSON' },
  help: { help: 'say how the command is used', short: 'h' },
  version: { help: 'print the version', short: 'v' },
}

/** Nouns that commands have in common. */
export const nouns: Readonly<Record<string, string>> = {
  host: 'hosts, and the data folder of this one',
  database: 'where the records are',
  key: 'the master key',
  backup: 'backups of the whole installation, and their key',
  account: 'accounts of the API',
  application: 'keys with which programs use the API',
  site: 'what the operator can do about sites',
  completion: 'print a script with which a shell completes command lines of Stead',
}

const email = { value: 'ADDRESS', help: 'e-mail address of the account', needed: true } as const
const plan = { choices: planNames, help: 'the plan of the account' } as const
const name = { value: 'NAME', help: 'shown name' } as const
const yesOrNo = ['yes', 'no'] as const
const storageKey = {
  value: 'KEY',
  help: 'the key of the backups as it was printed; default: by STEAD_MASTER_KEY',
} as const
/** Where the records are. */
const records = ['dataDir', 'databaseUrl'] as const
/** What the names of the installation follow from. */
const names = ['apiName', 'panelUrl', 'apiListen', 'stagingDomain', 'dnsNameservers', 'dnsCatalog'] as const
/** Where backups are, and what they are read with. */
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
 * Every command: what is parsed, run, completed in a shell, and said by `stead help`. This is read at each start, so that nothing
 * large may be imported here.
 */
export const commands: readonly Command[] = [
  command({
    name: 'serve',
    about: 'run everything on this machine',
    settings: allSettings,
    load: async () => (await import('../roles/supervisor.ts')).serve,
  }),
  command({
    name: 'control',
    about: 'run the API alone; any number of them on one PostgreSQL',
    settings: allSettings,
    load: async () => (await import('../roles/process.ts')).runPart,
  }),
  command({
    name: 'host',
    about: 'run what keeps sites and their PHP',
    settings: allSettings,
    load: async () => (await import('../roles/process.ts')).runPart,
  }),
  command({
    name: 'edge',
    about: 'run the gateway for visitors',
    settings: allSettings,
    load: async () => (await import('../roles/process.ts')).runPart,
  }),
  command({
    name: 'dns',
    about: 'run the name server for all zones',
    settings: allSettings,
    load: async () => (await import('../roles/process.ts')).runPart,
  }),
  command({
    name: 'host list',
    about: 'list hosts, and what was set aside in this data folder',
    settings: records,
    load: async () => (await import('./host.ts')).list,
  }),
  command({
    name: 'host adopt',
    about: 'bind this data folder to this database; homes that it does not know are set aside',
    flags: {
      host: {
        value: 'NAME',
        help: 'the host that the folder is from now on; default: the one it was, else a new one',
      },
    },
    settings: records,
    load: async () => (await import('./host.ts')).adopt,
  }),
  command({
    name: 'database move',
    about:
      'move the records from the SQLite file of this data folder to an empty PostgreSQL database; Stead is stopped meanwhile',
    flags: {
      to: { value: 'URL', help: 'postgres:// address of the database', needed: true },
      'without-logs': { help: 'leave the logs of sites behind' },
    },
    settings: ['dataDir', 'logMb'],
    load: async () => (await import('./database.ts')).move,
  }),
  command({
    name: 'backup create',
    about: 'back up every site now, then the records and what an empty machine needs to use them',
    flags: { 'records-only': { help: 'no new backups of sites: the newest that each has counts' } },
    settings: backups,
    load: async () => (await import('./own-backups.ts')).create,
  }),
  command({
    name: 'backup list',
    about: 'list backups of the records, or those of a site that are in the storage, newest first',
    flags: { site: { value: 'ID', help: 'number of a site' }, key: storageKey },
    settings: backups,
    load: async () => (await import('./own-backups.ts')).list,
  }),
  command({
    name: 'backup export',
    about: 'write the backups of a site into files (.tar.bz2, .sql), also where no Stead runs any more',
    flags: {
      site: { value: 'ID', help: 'number of the site', needed: true },
      backup: { value: 'NUMBER', help: 'one backup; default: the newest of the files and of the database' },
      to: { value: 'FOLDER', help: 'default: the current one' },
      key: storageKey,
    },
    settings: backups,
    load: async () => (await import('./site-backups.ts')).exportFiles,
  }),
  command({
    name: 'backup verify',
    about: 'read a backup of the records to its end',
    flags: { name: { value: 'NAME', help: 'default: the newest' } },
    settings: backups,
    load: async () => (await import('./own-backups.ts')).verify,
  }),
  command({
    name: 'restore',
    about:
      'make an empty data folder the installation that the storage of backups has; its sites come back at the next start',
    flags: {
      key: storageKey,
      backup: { value: 'NAME', help: 'backup of the records; default: the newest' },
      host: { value: 'NAME', help: 'the host that the folder is to be, where there were several' },
      trial: { help: 'to see that it works: the backups stay those of the installation that is restored' },
    },
    settings: backups,
    load: async () => (await import('./restore.ts')).restore,
  }),
  command({
    name: 'key accept',
    about: 'take the key in force, or a new one, for the right one: what is sealed under the old one is lost',
    settings: [...records, 'masterKey'],
    load: async () => (await import('./key.ts')).accept,
  }),
  command({
    name: 'backup key',
    about:
      'print the key that all backups are sealed under, for a safe: without it and the master key none can be read',
    settings: [...records, 'masterKey'],
    load: async () => (await import('./backup-key.ts')).print,
  }),
  command({
    name: 'backup accept-key',
    about: 'put in the printed key of the backups, after the master key was lost',
    flags: { file: { value: 'FILE', help: 'where the printed key is; - for standard input', needed: true } },
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
    load: async () => (await import('./backup-key.ts')).accept,
  }),
  command({
    name: 'backup take-over',
    about: 'have this copy of an installation change the backups, and no other any more',
    settings: backups,
    load: async () => (await import('./own-backups.ts')).takeOverBackups,
  }),
  command({
    name: 'account create',
    about: 'make an account',
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
    about: 'change what the API shows of an account',
    flags: {
      email,
      name,
      organization: { value: 'NAME', help: 'organization' },
      phone: { value: 'NUMBER', help: 'phone number' },
      affiliate: { choices: yesOrNo, help: 'whether the account is an affiliate' },
      preview: { choices: yesOrNo, help: 'whether the account is a preview' },
      'one-time-login': { choices: yesOrNo, help: 'whether links may log people in to WordPress on its sites' },
      'automatic-updates': {
        choices: yesOrNo,
        help: 'whether its sites get security releases of WordPress by themselves',
      },
    },
    settings: records,
    load: async () => (await import('./account.ts')).update,
  }),
  command({
    name: 'account link',
    about: 'make a link with which somebody sets the password of the control panel, once within a week',
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
    about: 'make a key; its secret is shown this once',
    flags: {
      account: email,
      name: { value: 'NAME', help: 'what the key is for', needed: true },
      owner: { help: "with the account owner's permission" },
    },
    settings: records,
    load: async () => (await import('./application.ts')).create,
  }),
  command({
    name: 'application list',
    about: 'list keys',
    flags: { account: { value: 'ADDRESS', help: 'only those of one account' } },
    settings: records,
    load: async () => (await import('./application.ts')).list,
  }),
  command({
    name: 'application revoke',
    about: 'make a key and its tokens worthless at once',
    flags: { 'client-id': { value: 'ID', help: 'the key', needed: true } },
    settings: records,
    load: async () => (await import('./application.ts')).revoke,
  }),
  command({
    name: 'site restore',
    about: 'bring a deleted site back from the trash',
    flags: { name: { value: 'NAME', help: 'name of the site', needed: true } },
    settings: [...records, ...names],
    load: async () => (await import('./site.ts')).restore,
  }),
  command({
    name: 'site move',
    about: 'move a site between native PHP with MariaDB and PHP in WebAssembly with SQLite',
    flags: {
      name: { value: 'NAME', help: 'name of the site', needed: true },
      runtime: { choices: ['native', 'wasm'], help: 'by what it is to run', needed: true },
      'php-version': { choices: phpVersions, help: 'the version that it has from then on; default: what it has' },
    },
    settings: records,
    load: async () => (await import('./site.ts')).move,
  }),
  command({
    name: 'trust',
    about:
      'have this machine and its browsers trust the certificates that Stead makes for local sites, such as https://my-site.localhost',
    flags: {
      remove: { help: 'have them trusted no more' },
      check: { help: 'say which stores trust them, and change nothing' },
      print: { help: "print the authority's certificate (PEM), for other machines and programs" },
      only: { choices: ['system', 'browsers'], help: "the system's store alone, or those of this user's browsers" },
    },
    settings: [...records, 'masterKey', 'stagingDomain', 'localAuthority', 'edgeTlsListen'],
    load: async () => (await import('./trust.ts')).trust,
  }),
  command({
    name: 'config',
    about: 'print the settings in force, secrets hidden',
    settings: allSettings,
    load: async () => (await import('./config.ts')).print,
  }),
  command({
    name: 'doctor',
    about: 'check this machine and the installation, and say what to do; exit code 1 where something is wrong',
    settings: allSettings,
    load: async () => (await import('../roles/doctor.ts')).doctor,
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
    about: 'say how Stead, or one command of it, is used; help settings lists every setting',
    flags: { markdown: { help: 'help settings as a page' } },
    takesTopic: true,
    load: async () => (await import('./help.ts')).print,
  }),
]

/** What may follow a noun: the verbs of its commands, each with what it does. */
export const verbsOf = (noun: string): (readonly [verb: string, about: string])[] =>
  commands.flatMap(({ name, about }) =>
    name.startsWith(`${noun} `) ? [[name.slice(noun.length + 1), about] as const] : [],
  )
