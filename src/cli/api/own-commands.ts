import { spawn } from 'node:child_process'
import { ApiError } from '../../sdk/index.ts'
import type { Flag } from '../command.ts'
import { CommandError, printRows } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import { clientOf, findConnection } from './api-connection.ts'
import { ask, readInput } from './ask.ts'
import type { Field } from './catalogue.ts'
import type { CommandContext } from './command-context.ts'
import type { ParsedCall, Usage } from './parse-call.ts'
import { printLog } from './print-log.ts'
import { type Profile, profilesFile, readProfiles, writeProfiles } from './profiles.ts'
import { siteIdOf } from './resolve-id.ts'
import { commonApiFlags } from './run.ts'
import { jsonOf } from './show.ts'
import { uploadFiles } from './upload-files.ts'
import { readText } from './values.ts'

/** A command for the API that does more, or less, than one operation. */
export interface OwnCommand extends Usage {
  readonly about: string
  readonly run: (call: ParsedCall, around: CommandContext) => Promise<number>
}

const word = (name: string, flag: string, isNeeded = true): Field => ({
  ...{ name, flag, in: 'path', schema: { type: 'string' }, isNeeded },
})
const { json, help, profile, 'data-dir': dataDir } = commonApiFlags as Record<string, Flag>
const onSite = { profile, 'data-dir': dataDir, help } as Record<string, Flag>
const onProfiles = { json, help } as Record<string, Flag>

const connected = async ({ own }: ParsedCall, { environment }: CommandContext) =>
  clientOf(await findConnection(environment, { profile: own.profile as string, dataDir: own['data-dir'] as string }))

export const ownCommands: readonly OwnCommand[] = [
  {
    name: 'sites open',
    about: 'Open a site in the browser, or print its address on a machine without one',
    words: [word('site', 'SITE')],
    flags: [],
    own: { admin: { help: 'open the WordPress log-in page' }, ...onSite },
    run: openSite,
  },
  {
    name: 'sites logs',
    about: "Show a site's web server log or PHP error log",
    words: [word('site', 'SITE')],
    flags: [],
    own: {
      php: { help: 'show PHP errors instead of requests' },
      follow: { help: 'keep running and show new entries', short: 'f' },
      json: json as Flag,
      ...onSite,
    },
    run: async (call, around) => {
      const stead = await connected(call, around)
      const siteId = await siteIdOf(stead, call.path.site as string)
      const { php, follow, json } = call.own
      return printLog(
        stead,
        { siteId, isPhp: php === true, isFollowed: follow === true, asJson: json === true },
        around,
      )
    },
  },
  {
    name: 'imports upload',
    about: 'Upload the archive of a site and have it inspected; run it again to continue',
    words: [word('site', 'SITE'), { ...word('files', 'FILE'), in: 'body', schema: { type: 'array' } }],
    flags: [],
    own: {
      start: { help: 'start the import automatically if its plan has no blockers' },
      wait: { help: 'wait until the archive is inspected, and show the progress' },
      json: json as Flag,
      ...onSite,
    },
    run: async (call, around) => {
      const stead = await connected(call, around)
      return uploadFiles(stead, await siteIdOf(stead, call.path.site as string), call, around)
    },
  },
  {
    name: 'mcp',
    about: 'Run a Model Context Protocol server for language models on standard input and output',
    words: [],
    flags: [],
    own: {
      'allow-changes': { help: 'also offer tools that change something (default: read-only tools)' },
      listen: { value: 'HOST:PORT', help: 'serve over HTTP at /mcp, where each request sends its own token' },
      host: { value: 'NAME', help: 'host names that HTTP requests may use, separated by commas' },
      ...onSite,
    },
    // Large, and needed only here.
    run: async (call, around) => (await import('../mcp/serve.ts')).serveMcp(call, around),
  },
  {
    name: 'login',
    about: 'Save the credentials of a server, and use it from now on',
    words: [word('url', 'URL')],
    flags: [],
    own: {
      'client-id': { value: 'ID', help: 'client id (default: asks on a terminal)' },
      'client-secret-file': {
        value: 'FILE',
        help: 'file with the client secret, or - for standard input (default: asks on a terminal)',
      },
      name: { value: 'NAME', help: 'name of the profile (default: the host name of the address)' },
      ...onProfiles,
    },
    run: logIn,
  },
  {
    name: 'logout',
    about: 'Remove the saved credentials of a server; to revoke them, run stead application revoke',
    words: [word('name', 'PROFILE', false)],
    flags: [],
    own: onProfiles,
    run: logOut,
  },
  {
    name: 'profiles',
    about: 'List servers with saved credentials, and show which one is in use',
    words: [],
    flags: [],
    own: onProfiles,
    run: listProfiles,
  },
  {
    name: 'profiles use',
    about: 'Switch to another profile',
    words: [word('name', 'PROFILE')],
    flags: [],
    own: onProfiles,
    run: async ({ path }, { environment, err }) => {
      const stored = await readProfiles(environment)
      const name = path.name as string
      await findConnection(environment, { profile: name })
      await writeProfiles(environment, { ...stored, current: name })
      err.write(`Using ${name}, ${stored.profiles[name]?.url}\n`)
      return 0
    },
  },
]

async function openSite(call: ParsedCall, around: CommandContext): Promise<number> {
  const stead = await connected(call, around)
  const id = await siteIdOf(stead, call.path.site as string)
  const { data: site } = await stead.get('/v1/sites/{id}', { params: { path: { id } } })
  const address = `http://${call.own.admin ? site.cmsLoginUrl : site.url}`
  around.out.write(`${address}\n`)
  if (around.out.isTTY) await openInBrowser(address, around)
  return 0
}

/** Without a desktop, only the address can be printed. */
async function openInBrowser(address: string, { environment }: CommandContext): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  if (program === 'xdg-open' && !environment.DISPLAY && !environment.WAYLAND_DISPLAY) return
  const child = spawn(program, [address], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

async function logIn({ path, own }: ParsedCall, around: CommandContext): Promise<number> {
  const url = addressOf(path.url as string)
  const question = around.ask ?? ask
  const missing = (flag: string): never => {
    throw new UsageError(`--${flag} is required without a terminal. See: stead help login`)
  }
  const clientId =
    (own['client-id'] as string) ?? (around.isInteractive ? await question('Client id: ') : missing('client-id'))
  const file = own['client-secret-file'] as string | undefined
  const clientSecret = file
    ? (file === '-' ? await readInput() : readText(file)).trim()
    : around.isInteractive
      ? await question('Client secret: ', { isSecret: true })
      : missing('client-secret-file')
  if (clientId === '' || clientSecret === '')
    throw new UsageError(`The client ${clientId === '' ? 'id' : 'secret'} is empty. See: stead help login`)
  const name = (own.name as string) ?? new URL(url).host
  if (url.startsWith('http:') && !isLocal(new URL(url).host))
    around.err.write(
      'Warning: Stead sends the client secret to this address without encryption. Use https or a tunnel.\n',
    )
  const stead = clientOf({ url, clientId, clientSecret, from: '' }, 1)
  const account = await stead.get('/v1/account').catch((error) => {
    if (error instanceof ApiError && error.status === 401)
      throw new CommandError(`${url} rejected these credentials: ${error.message}`)
    throw error
  })
  const stored = await readProfiles(around.environment)
  const profile: Profile = { url, client_id: clientId, client_secret: clientSecret }
  await writeProfiles(around.environment, { current: name, profiles: { ...stored.profiles, [name]: profile } })
  const kept = { profile: name, url, account: account.data.email, kept_in: profilesFile(around.environment) }
  if (own.json) around.out.write(`${jsonOf(kept)}\n`)
  else around.err.write(`Logged in to ${url} as ${account.data.email}. Saved in ${kept.kept_in}\n`)
  return 0
}

const isLocal = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/.test(host)

/** @throws UsageError */
function addressOf(text: string): string {
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `${isLocal(text) ? 'http' : 'https'}://${text}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username)
    throw new UsageError(`${text} is not the URL of an API. Example: https://api.example.com`)
  return url.href.replace(/\/+$/, '')
}

async function logOut({ path }: ParsedCall, { environment, err }: CommandContext): Promise<number> {
  const stored = await readProfiles(environment)
  const name = path.name ?? stored.current
  if (name === null) throw new CommandError('You are not logged in.')
  if (!Object.hasOwn(stored.profiles, name))
    throw new CommandError(`Unknown profile ${name}. To list profiles, run stead profiles`)
  const { [name]: _forgotten, ...profiles } = stored.profiles
  await writeProfiles(environment, { current: stored.current === name ? null : stored.current, profiles })
  err.write(`Forgotten: ${name}\n`)
  return 0
}

async function listProfiles({ own }: ParsedCall, { environment, out, err }: CommandContext): Promise<number> {
  const { current, profiles } = await readProfiles(environment)
  const rows = Object.entries(profiles).map(([name, { url, client_id }]) => ({
    name,
    url,
    client_id,
    current: name === current,
  }))
  printRows(rows, own.json === true, out)
  const used = await findConnection(environment).catch((error: Error) => error)
  if (!own.json) err.write(used instanceof Error ? `${used.message}\n` : `In use: ${used.url}, from ${used.from}\n`)
  return 0
}
