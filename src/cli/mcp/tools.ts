import type { Stead } from '../../sdk/index.ts'
import { type ApiCommand, apiDocument, catalogue, type Field, type Schema } from '../api/catalogue.ts'
import { siteWrittenOver, writesOver } from '../api/written-over.ts'

/**
 * The description of a tool for clients of the Model Context Protocol:
 * https://modelcontextprotocol.io/specification/2025-06-18/server/tools
 */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object>>
    readonly required: readonly string[]
    readonly additionalProperties: false
  }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: false
  }
}

/** A tool that is one operation of the API. */
export interface ApiTool extends Tool {
  readonly command: ApiCommand
  readonly fields: readonly Field[]
  /** Returns the site, or the sites, whose names must be confirmed. Undefined if no confirmation is needed. */
  readonly losers: ((stead: Stead, args: Arguments, signal: AbortSignal) => Promise<unknown>) | undefined
}

export type Arguments = Readonly<Record<string, unknown>>

/** The argument with which a caller confirms which site loses something. */
export const CONFIRM = 'confirm_site_name'

/** These are POST because they have a body, but they change nothing. */
export const readingPosts = [
  'searchSites',
  'validateSiteName',
  'listAccountActivity',
  'listSiteActivity',
  'listSiteFigures',
  'previewZoneFile',
]

/** Operations without a tool: those on tokens of others, and the stream that `wait_for_operation` replaces. */
const left = ['issueToken', 'revokeToken', 'watchOperation']

/** These are GET because the API's description defines them so, but they change something. */
export const changingGets = ['disconnectSsh', 'getDatabaseAdminUrl']

export const isReading = ({ method, operationId }: ApiCommand): boolean =>
  (method === 'get' && !changingGets.includes(operationId)) || readingPosts.includes(operationId)

/**
 * Returns a tool for each operation.
 * @param allowChanges whether to include those that change something
 */
export function apiTools(allowChanges: boolean): ApiTool[] {
  return catalogue()
    .commands.filter((command) => !left.includes(command.operationId) && (allowChanges || isReading(command)))
    .map(toolOf)
}

export const waitTool: Tool = {
  name: 'wait_for_operation',
  title: 'Wait for an operation',
  description:
    'Some tools return an operation_id while work continues in the background. This tool waits for its end and returns the result. ' +
    'After timeout_seconds, it returns the progress, and the work continues.',
  inputSchema: {
    type: 'object',
    properties: {
      operation_id: { type: 'integer', description: 'operation_id from the response of another tool' },
      timeout_seconds: { type: 'integer', minimum: 1, maximum: 600, description: 'Default: 120' },
    },
    required: ['operation_id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

function toolOf(command: ApiCommand): ApiTool {
  const fields = [...command.words.filter((field) => field.in === 'path'), ...command.flags]
  const losers = command.isDestructive ? losersOf(command) : undefined
  const needed = fields.filter(({ isNeeded }) => isNeeded).map(({ name }) => name)
  return {
    name: command.operationId,
    title: command.about,
    description: [
      command.about,
      command.description,
      command.startsWork && 'The work continues after the response. Use wait_for_operation to wait for its end.',
      command.answers === 'file' && 'Returns where to download the file, or the image itself.',
      losers && `Requires the name of the affected site as ${CONFIRM}.`,
    ]
      .filter(Boolean)
      .map((text) => (text as string).replace(/[^.]$/, '$&.'))
      .join(' '),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries([
        ...fields.map(({ name, schema }) => [name, whole(schema)] as const),
        ...(losers ? [[CONFIRM, confirmSchema(command)] as const] : []),
      ]),
      required: losers && !mayTry(command) ? [...needed, CONFIRM] : needed,
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: isReading(command),
      destructiveHint: command.isDestructive,
      idempotentHint: command.method !== 'post' || isReading(command),
      openWorldHint: false,
    },
    ...{ command, fields, losers },
  }
}

const mayTry = ({ flags }: ApiCommand): boolean => flags.some(({ name }) => name === 'dry_run')

function confirmSchema(command: ApiCommand): object {
  const text = 'Name of the affected site, as its owner calls it'
  if (command.flags.some(({ name }) => name === 'siteIds'))
    return { type: 'array', items: { type: 'string' }, description: 'Names of all affected sites in the same order' }
  return { type: 'string', description: mayTry(command) ? `${text}; not needed with dry_run` : text }
}

/**
 * Returns the function that finds the sites which lose something through an operation; undefined if it does not concern
 * a site.
 */
function losersOf({ path, operationId, flags }: ApiCommand): ApiTool['losers'] {
  if (writesOver(operationId))
    return async (stead, args, signal) =>
      args.dry_run === true ? undefined : siteWrittenOver(stead, operationId, args, signal)
  const field = flags.some(({ name }) => name === 'siteIds')
    ? 'siteIds'
    : path.includes('{site_id}')
      ? 'site_id'
      : /^\/v1\/sites\/\{id\}/.test(path)
        ? 'id'
        : undefined
  return field && (async (_stead, args) => args[field])
}

/** Returns a schema with all references resolved, because clients of the protocol do not know the document. */
function whole(schema: Schema, depth = 0): object {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) as string
    return depth > 8 ? {} : whole(apiDocument().components.schemas[name] as Schema, depth + 1)
  }
  const { properties, items, anyOf, ...rest } = schema
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, whole(each, depth + 1)])),
    }),
    ...(items && { items: whole(items, depth + 1) }),
    ...(anyOf && { anyOf: anyOf.map((each) => whole(each, depth + 1)) }),
  }
}
