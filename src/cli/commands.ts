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
  key: 'the master key',
  account: 'accounts of the API',
  application: 'keys with which programs use the API',
  site: 'what the operator can do about sites',
  completion: 'print a script with which a shell completes command lines of Stead',
}

const email = { value: 'ADDRESS', help: 'e-mail address of the account', needed: true } as const
const plan = { choices: planNames, help: 'the plan of the account' } as const
const name = { value: 'NAME', help: 'shown name' } as const
const yesOrNo = ['yes', 'no'] as const
/** Where the records are. */
const records = ['dataDir', 'databaseUrl'] as const

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
    name: 'key accept',
    about: 'take the key in force, or a new one, for the right one: what is sealed under the old one is lost',
    settings: [...records, 'masterKey'],
    load: async () => (await import('./key.ts')).accept,
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
    },
    settings: records,
    load: async () => (await import('./account.ts')).update,
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
    settings: records,
    load: async () => (await import('./site.ts')).restore,
  }),
  command({
    name: 'config',
    about: 'print the settings in force, secrets hidden',
    settings: allSettings,
    load: async () => (await import('./config.ts')).print,
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
