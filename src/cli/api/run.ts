import { EventSourceParserStream } from 'eventsource-parser/stream'
import { ApiError, ConnectionError, OperationFailed, type Stead } from '../../sdk/index.ts'
import type { Flag } from '../command.ts'
import { CommandError } from '../output.ts'
import { clientOf, findConnection } from './api-connection.ts'
import { ask } from './ask.ts'
import type { ApiCommand } from './catalogue.ts'
import type { CommandContext } from './command-context.ts'
import { download } from './download.ts'
import { operationProgress } from './operation-progress.ts'
import { type ParsedCall, parseCall, type Usage, usageLine } from './parse-call.ts'
import { resolvePath, withSiteIds } from './resolve-id.ts'
import { chosen, harmless, jsonOf, show, valueAt } from './show.ts'
import { siteWrittenOver, writesOver } from './written-over.ts'

/** The flags of every API command. */
export const commonApiFlags: Readonly<Record<string, Flag>> = {
  json: { help: 'print JSON' },
  fields: { value: 'A,B.C', help: 'show only these fields, as columns or in the JSON' },
  get: { value: 'PATH', help: 'show only the value of this field, such as url or tags.0.name' },
  profile: { value: 'NAME', help: 'server to call (see: stead profiles)' },
  'data-dir': { value: 'FOLDER', help: 'call the server with this data folder' },
  help: { help: 'show help for the command', short: 'h' },
}

/** Returns the command line of an operation of the API. */
export const usageOf = (command: ApiCommand): Usage => ({
  name: command.name,
  words: command.words,
  flags: command.flags,
  own: {
    ...(command.hasBody && {
      input: { value: 'FILE', help: 'file with a JSON object of fields, or - for standard input' },
    }),
    ...(command.startsWork && { wait: { help: 'wait for the operation and show its progress' } }),
    ...(command.isPaged && { all: { help: 'get all pages' } }),
    ...(command.isDestructive && { yes: { help: 'do not ask for confirmation', short: 'y' } }),
    ...(command.answers === 'file' && {
      output: { value: 'FILE', help: 'file to write, or - for standard output', short: 'o' },
    }),
    ...commonApiFlags,
  },
})

/**
 * Runs the command line of an operation.
 * @returns the exit code
 * @throws errors for {@link explained}
 */
export async function runOperation(
  command: ApiCommand,
  argv: readonly string[],
  around: CommandContext,
): Promise<number> {
  const call = parseCall(usageOf(command), argv)
  const { own } = call
  const connection = await findConnection(around.environment, {
    profile: own.profile as string | undefined,
    dataDir: own['data-dir'] as string | undefined,
  })
  const stead = clientOf(connection)
  const path = await resolvePath(stead, command, call.path)
  // A dry run changes nothing.
  if (command.isDestructive && !own.yes && call.body?.dry_run !== true) await confirm(stead, command, call, around)
  if (command.operationId === 'watchOperation') return watch(stead, Number(path.id), own.json === true, around)
  if (command.answers === 'events') return printEvents(stead, command, { path, query: call.query }, around)
  if (command.answers === 'file') return download(stead, command, path, own.output as string | undefined, around)
  const sent = await withSiteIds(stead, command, call)
  const body =
    command.operationId === 'issueToken' || command.operationId === 'revokeToken'
      ? {
          grant_type: 'client_credentials',
          client_id: connection.clientId,
          client_secret: connection.clientSecret,
          ...sent.body,
        }
      : sent.body
  const init = { params: { path, query: sent.query }, ...(body && { body }) }
  if (own.all) return printAll(stead, command, init, own, around)
  const answer = await stead.call(command.method, command.path, init)
  if (answer.ignored) around.err.write(`Ignored: ${harmless(answer.ignored)}\n`)
  const { operationId } = answer
  let { data } = answer
  if (operationId !== undefined && own.wait) {
    await waitAndShow(stead, operationId, around)
    data = await afterWork(stead, data)
  }
  const isWaited = operationId !== undefined && own.wait === true
  const isForProgram = own.json === true || typeof own.get === 'string'
  if (isWaited && !isForProgram && !own.fields) {
    // The answer at the beginning says nothing about the end, except for a new password.
    if (typeof data === 'string') printAnswer(data, own, around)
    around[isSite(data) ? 'out' : 'err'].write(`${addressOf(data) ?? 'Done.'}\n`)
    return 0
  }
  printAnswer(own.json && !isWaited ? withOperation(data, operationId) : data, own, around)
  if (isForProgram) return 0
  if (operationId !== undefined && !isWaited)
    around.err.write(`Started operation ${operationId}. Follow it with stead operations watch ${operationId}\n`)
  else if (data === null) around.err.write('Done.\n')
  const { page } = answer
  if (page && page.lastPage > page.currentPage)
    around.err.write(
      `Page ${page.currentPage} of ${page.lastPage}, ${page.totalItems} entries in total. Next page: --page=${page.currentPage + 1}. All pages: --all\n`,
    )
  return 0
}

async function printAll(
  stead: Stead,
  { method, path, operationId }: ApiCommand,
  init: { params: object; body?: object },
  own: ParsedCall['own'],
  around: CommandContext,
): Promise<number> {
  if (operationId === 'listCollaboratorSites')
    throw new CommandError('--all is not possible here. Use --page and --per-page')
  const entries =
    method === 'post' ? stead.search(path as never, init as never) : stead.list(path as never, init as never)
  printAnswer(await Array.fromAsync(entries), own, around)
  return 0
}

/** Prints a stream of events until it ends, the data of each as a line. */
async function printEvents(
  stead: Stead,
  command: ApiCommand,
  params: { path: object; query: object },
  { out }: CommandContext,
): Promise<number> {
  const response = await stead.download(command.path as never, { params } as never)
  const texts = response.body?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  for await (const { data } of texts?.pipeThrough(new EventSourceParserStream()) ?? []) out.write(`${harmless(data)}\n`)
  return 0
}

/** Prints an answer in the requested form. */
export function printAnswer(data: unknown, own: ParsedCall['own'], { out }: Pick<CommandContext, 'out'>): void {
  const line = (text: string) => out.write(`${text}\n`)
  const fields = typeof own.fields === 'string' ? own.fields.split(',').filter(Boolean) : undefined
  if (typeof own.get === 'string') {
    const path = own.get
    for (const each of Array.isArray(data) && !/^\d/.test(path) ? data : [data]) {
      const value = valueAt(each, path)
      if (value === undefined)
        throw new CommandError(`The response does not contain ${path}. To see the response, use --json`)
      line(typeof value === 'object' ? jsonOf(value) : harmless(String(value)))
    }
    return
  }
  if (own.json) {
    const picked = fields
      ? Array.isArray(data)
        ? data.map((each) => chosen(each, fields))
        : chosen(data, fields)
      : data
    line(jsonOf(picked))
  } else if (data !== null && data !== undefined) line(show(data, out, fields))
}

/** Adds the operation's id, which a program needs to wait. */
function withOperation(data: unknown, operationId: number | undefined): unknown {
  if (operationId === undefined || Array.isArray(data) || typeof data === 'string') return data
  return { ...(data as object | null), operationId }
}

/** Returns a site as it is after the work. */
async function afterWork(stead: Stead, data: unknown): Promise<unknown> {
  if (!isSite(data)) return data
  const { data: site } = await stead.get('/v1/sites/{id}', { params: { path: { id: data.id } } })
  return Object.fromEntries(Object.keys(data).map((name) => [name, site[name as keyof typeof site]]))
}

const isSite = (data: unknown): data is { id: number; url: string } =>
  typeof data === 'object' && data !== null && 'url' in data && 'cmsVersion' in data

const addressOf = (data: unknown): string | undefined => (isSite(data) ? `http://${data.url}` : undefined)

/**
 * Waits for an operation, and shows its progress.
 * @throws OperationFailed
 */
export async function waitAndShow(stead: Stead, id: number, { err }: Pick<CommandContext, 'err'>): Promise<void> {
  const progress = operationProgress(err)
  try {
    await stead.waitForOperation(id, { onProgress: progress.show })
  } finally {
    progress.end()
  }
}

/** Runs `stead operations watch`: progress on standard error, or with `--json` each state as a line. */
async function watch(stead: Stead, id: number, asJson: boolean, around: CommandContext): Promise<number> {
  const operation = asJson
    ? stead.waitForOperation(id, { onProgress: (each) => around.out.write(`${JSON.stringify(each)}\n`) })
    : waitAndShow(stead, id, around)
  await operation
  if (!asJson) around.err.write('Done.\n')
  return 0
}

/**
 * Requires a confirmation of what is deleted: its name on a terminal, `--yes` in a script.
 * @throws CommandError
 */
async function confirm(stead: Stead, command: ApiCommand, call: ParsedCall, around: CommandContext): Promise<void> {
  if (!around.isInteractive) throw new CommandError(`"stead ${command.name}" requires --yes without a terminal.`)
  const what = await nameOf(stead, command, call)
  const answer = await (around.ask ?? ask)(`${command.about}. Type ${harmless(what)} to continue: `)
  if (answer !== what) throw new CommandError('Nothing was changed.')
}

/** Returns the name of the site, or the word that was given, so that a person notices a wrong number. */
async function nameOf(stead: Stead, { operationId, words }: ApiCommand, { path, body }: ParsedCall): Promise<string> {
  const last = words.filter((field) => field.in === 'path').at(-1)
  const site = writesOver(operationId)
    ? await siteWrittenOver(stead, operationId, { ...path, ...body })
    : last?.flag === 'SITE' && path[last.name]
  if (!site) return String(last ? path[last.name] : 'yes')
  if (!/^\d+$/.test(String(site))) return String(site)
  return (await stead.get('/v1/sites/{id}', { params: { path: { id: Number(site) } } })).data.name
}

/**
 * Returns the text and the exit code for an error. 1: the API refused, or the work failed. 4: the caller is unknown. 2
 * is for an invalid command line.
 */
export function explained(
  error: unknown,
  asJson: boolean,
  command?: ApiCommand,
): { text: string; code: number } | undefined {
  if (error instanceof ApiError) {
    const { status, code, errors, requestId } = error
    const text = asJson
      ? jsonOf({ code, errors, status, requestId })
      : [...errors, ...advice(error, command)].map(harmless).join('\n')
    return { text, code: status === 401 ? 4 : 1 }
  }
  if (error instanceof OperationFailed) {
    const { operation } = error
    if (asJson) return { text: jsonOf(operation), code: 1 }
    const again = operation.state === 'failed' ? `\nTo retry, run stead operations retry ${operation.id} --wait` : ''
    return { text: `${harmless(error.message)}${again}`, code: 1 }
  }
  if (error instanceof ConnectionError)
    return {
      text: asJson
        ? jsonOf({ code: 'no_answer', errors: [error.message] })
        : `${error.message}\nCheck that Stead runs there, and see: stead profiles`,
      code: 1,
    }
  return undefined
}

function advice({ status, code, requestId, retryAfterSeconds }: ApiError, command: ApiCommand | undefined): string[] {
  if (status === 401)
    return [
      'The server does not know these credentials, or they were revoked. To see which ones are in use, run stead profiles. To log in again, run stead login',
    ]
  if (code === 'invalid_input' && command) return [usageLine(command), `See: stead help ${command.name}`]
  if (status === 404 && command) return [`To list them, run stead ${command.noun} list`]
  if (status === 429 && retryAfterSeconds) return [`Try again in ${retryAfterSeconds} s.`]
  if (status >= 500 && requestId) return [`In the server log, this is request ${requestId}.`]
  return []
}
