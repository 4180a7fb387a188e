/** A flag of a command. Those without `value` are switches. */
export interface FlagUsage {
  /** What stands for the value in the help. */
  readonly value?: string
  readonly help: string
  readonly needed?: boolean
}

/** One thing that can be asked for: a command, or a verb of one. */
export interface Usage {
  readonly about: string
  readonly flags?: Readonly<Record<string, FlagUsage>>
}

export interface CommandUsage extends Usage {
  /** The words that may follow the command; one must, unless it runs alone. */
  readonly verbs?: Readonly<Record<string, Usage>>
  readonly runsAlone?: boolean
  /** Settings mean nothing to it: it works where they are wrong. */
  readonly needsNoSettings?: boolean
}

/** Flags that every command takes. */
export const commonFlags: Readonly<Record<string, FlagUsage>> = {
  '--json': { help: 'print JSON' },
  '--help': { help: 'say how the command is used' },
}

const email = { value: 'ADDRESS', help: 'e-mail address of the account', needed: true }
const plan = { value: 'PLAN', help: 'Personal, Business or High Traffic' }

/** Every command with its verbs and flags: what is accepted, and what `stead help` says. */
export const commandUsages: Readonly<Record<string, CommandUsage>> = {
  serve: { about: 'run everything on this machine' },
  control: { about: 'run the API alone; any number of them on one PostgreSQL' },
  host: {
    about: 'run what keeps sites and their PHP',
    runsAlone: true,
    verbs: {
      list: { about: 'list hosts, and what was set aside in this data folder' },
      adopt: {
        about: 'bind this data folder to this database; homes that it does not know are set aside',
        flags: {
          '--host': {
            value: 'NAME',
            help: 'the host that the folder is from now on; default: the one it was, else a new one',
          },
        },
      },
    },
  },
  key: {
    about: 'the master key',
    verbs: {
      accept: {
        about: 'take the key in force, or a new one, for the right one: what is sealed under the old one is lost',
      },
    },
  },
  edge: { about: 'run the gateway for visitors' },
  account: {
    about: 'accounts of the API',
    verbs: {
      create: {
        about: 'make an account',
        flags: { '--email': email, '--name': { value: 'NAME', help: 'shown name' }, '--plan': plan },
      },
      list: { about: 'list all accounts' },
      update: {
        about: 'change what the API shows of an account',
        flags: {
          '--email': email,
          '--name': { value: 'NAME', help: 'shown name' },
          '--organization': { value: 'NAME', help: 'organization' },
          '--phone': { value: 'NUMBER', help: 'phone number' },
          '--affiliate': { value: 'yes|no', help: 'whether the account is an affiliate' },
          '--preview': { value: 'yes|no', help: 'whether the account is a preview' },
        },
      },
      'set-plan': {
        about: 'change the plan of an account',
        flags: { '--email': email, '--plan': { ...plan, needed: true } },
      },
    },
  },
  application: {
    about: 'keys with which programs use the API',
    verbs: {
      create: {
        about: 'make a key; its secret is shown this once',
        flags: {
          '--account': email,
          '--name': { value: 'NAME', help: 'what the key is for', needed: true },
          '--owner': { help: "with the account owner's permission" },
        },
      },
      list: {
        about: 'list keys',
        flags: { '--account': { ...email, help: 'only those of one account', needed: false } },
      },
      revoke: {
        about: 'make a key and its tokens worthless at once',
        flags: { '--client-id': { value: 'ID', help: 'the key', needed: true } },
      },
    },
  },
  site: {
    about: 'what the operator can do about sites',
    verbs: {
      restore: {
        about: 'bring a deleted site back from the trash',
        flags: { '--name': { value: 'NAME', help: 'name of the site', needed: true } },
      },
    },
  },
  config: { about: 'print the settings in force, secrets hidden' },
  openapi: { about: 'print the OpenAPI document of the API' },
  version: { about: 'print the version', needsNoSettings: true },
  help: {
    about: 'say how Stead, or one command of it, is used; help settings lists every setting',
    flags: { '--markdown': { help: 'help settings as a page' } },
    needsNoSettings: true,
  },
}
