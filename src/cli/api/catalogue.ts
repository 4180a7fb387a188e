import { readFileSync } from 'node:fs'
import { apiVerbs, nounOf } from './command-names.ts'

/** A JSON schema, as far as a command line can express its values. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** A parameter of an operation, in its path, its query or its body. */
export interface Field {
  readonly name: string
  /** The flag, without dashes. For words, their name in the help: SITE. */
  readonly flag: string
  readonly in: 'path' | 'query' | 'body'
  readonly schema: Schema
  readonly isNeeded: boolean
}

/** A command that is one operation of the API. */
export interface ApiCommand {
  /** For example `sites create`. */
  readonly name: string
  readonly noun: string
  readonly verb: string
  readonly about: string
  readonly description: string
  readonly operationId: string
  readonly method: 'get' | 'post' | 'put' | 'delete'
  readonly path: string
  /** The fields of the words after the name, in order. The last may take all remaining words. */
  readonly words: readonly Field[]
  /** The fields of flags. They include words of the body. */
  readonly flags: readonly Field[]
  readonly hasBody: boolean
  readonly startsWork: boolean
  readonly isPaged: boolean
  readonly answers: 'json' | 'file' | 'events'
  /** Whether it asks for the name of its object, on a terminal. */
  readonly isDestructive: boolean
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly {
    $ref?: string
    name: string
    in: string
    required?: boolean
    schema: Schema
    description?: string
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { headers?: object; content?: Record<string, { schema: Schema }> }>>
}

export interface Document {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Catalogue {
  readonly commands: readonly ApiCommand[]
  /** Each noun with its description. */
  readonly nouns: Readonly<Record<string, string>>
}

/** Flags of these commands. A field of the same name becomes `--set-<name>`. */
export const ownFlags = [
  'json',
  'help',
  'version',
  'yes',
  'wait',
  'all',
  'fields',
  'get',
  'input',
  'output',
  'profile',
  'data-dir',
]

let document: Document | undefined
let known: Catalogue | undefined

/** Returns the OpenAPI document, which the first call reads. */
export function apiDocument(): Document {
  document ??= JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as Document
  return document
}

/** Returns the commands of the OpenAPI document. */
export function catalogue(): Catalogue {
  known ??= catalogueOf(apiDocument())
  return known
}

/** The tag of operations for signing in to the control panel, which programs do not need: they have tokens. */
const FOR_BROWSERS = 'Sign-in'

/** Returns whether an operation takes part of a file. A separate command sends whole files (`own-commands.ts`). */
const takesBytes = ({ requestBody }: Operation): boolean =>
  requestBody?.content['application/octet-stream'] !== undefined

export function catalogueOf(document: Document): Catalogue {
  const operations = Object.entries(document.paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        path,
        method,
        operation,
        tag: operation.tags?.[0] ?? 'Other',
      })),
    )
    .filter(({ tag, operation }) => tag !== FOR_BROWSERS && !takesBytes(operation))
  const verbs = apiVerbs(
    operations.map(({ path, tag, operation }) => ({ path, tag, operationId: operation.operationId })),
  )
  const tags = new Map(document.tags?.map(({ name, description = '' }) => [name, description]))
  return {
    commands: operations.map(({ path, method, operation, tag }) => {
      const noun = nounOf(tag)
      const verb = verbs.get(operation.operationId) as string
      return { ...facts(document, path, method, operation), name: `${noun} ${verb}`, noun, verb }
    }),
    nouns: Object.fromEntries(operations.map(({ tag }) => [nounOf(tag), tags.get(tag) || tag])),
  }
}

function facts(document: Document, path: string, method: string, operation: Operation) {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation
  const resolved = (schema: Schema): Schema =>
    schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema) : schema
  const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1] ?? {}
  const contents = Object.entries(success.content ?? {})
  const [type = 'application/json', content] =
    contents.find(([type]) => type === 'application/json') ?? contents[0] ?? []
  const isPaged = content?.schema.properties?.page !== undefined
  const given = parameters.filter((each) => !each.$ref)
  const fieldsIn = (place: 'path' | 'query') =>
    given
      .filter((each) => each.in === place)
      .map(({ name, required = false, schema, description }) => {
        const whole = { ...resolved(schema), ...(description && { description }) }
        return { name, flag: flagOf(name, isPaged), in: place, schema: whole, isNeeded: required } as const
      })
  const body = bodyFields(requestBody, resolved, isPaged)
  const taken = new Set(body.map(({ name }) => name))
  const inPath = fieldsIn('path').sort((a, b) => path.indexOf(`{${a.name}}`) - path.indexOf(`{${b.name}}`))
  const answers = type === 'text/event-stream' ? 'events' : type === 'application/json' ? 'json' : 'file'
  return {
    ...{ about: summary, description, operationId, path },
    method: method as ApiCommand['method'],
    words: [...inPath.map((field) => ({ ...field, flag: wordOf(path, field.name) })), ...bodyWords(body)],
    flags: [...fieldsIn('query').filter(({ name }) => !taken.has(name)), ...body],
    hasBody: requestBody !== undefined,
    startsWork: Object.keys(success.headers ?? {}).includes('Operation-Id'),
    isPaged,
    answers,
    isDestructive: isDestructive(operationId, path),
  } as const
}

function bodyFields(
  requestBody: Operation['requestBody'],
  resolved: (schema: Schema) => Schema,
  isPaged: boolean,
): Field[] {
  const content = requestBody && (requestBody.content['application/json'] ?? Object.values(requestBody.content)[0])
  if (!content) return []
  const { properties = {}, required = [] } = resolved(content.schema)
  return Object.entries(properties).map(([name, schema]) => {
    const whole = { ...resolved(schema), ...(schema.items && { items: resolved(schema.items) }) }
    return { name, flag: flagOf(name, isPaged), in: 'body', schema: whole, isNeeded: required.includes(name) }
  })
}

/** The flag that only commands with pages have. */
const FOR_PAGES = 'all'

/** Converts `siteIds` to `site-ids`. Flags that the command has keep their names. */
function flagOf(name: string, isPaged: boolean): string {
  const flag = name
    .replace(/[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()
    .replaceAll('_', '-')
  return ownFlags.includes(flag) && (isPaged || flag !== FOR_PAGES) ? `set-${flag}` : flag
}

/** Returns the name of a word of the path: `/v1/sites/{id}` → SITE, `…/domains/{id}` → DOMAIN. */
function wordOf(path: string, name: string): string {
  const before = path.split(`/{${name}}`)[0]?.split('/').at(-1) ?? name
  const noun =
    name === 'id' || name === 'site_id' ? before.replace(/ies$/, 'y').replace(/s$/, '') : name.replace(/_id$/, '')
  return noun.toUpperCase().replaceAll('_', '-')
}

/** Returns the required fields, or the only one, which can be words instead of flags. Booleans are flags. */
function bodyWords(body: readonly Field[]): Field[] {
  const only = body.length === 1 && !isOfType(body[0]?.schema, 'boolean') ? body : []
  const needed = body.filter(({ isNeeded, schema }) => isNeeded && !isOfType(schema, 'boolean'))
  const words = needed.length > 0 ? needed : only
  // The field that takes several words comes last.
  const lists = words.filter(({ schema }) => isOfType(schema, 'array'))
  return [...words.filter((field) => !lists.includes(field)), ...lists.slice(0, 1)]
}

/** Returns whether a field is the id of a site, or of several. A site's name is accepted as well. */
export const isSiteId = ({ name }: Field): boolean => /site_?ids?$/i.test(name)

export const isOfType = (schema: Schema | undefined, type: string): boolean => [schema?.type].flat().includes(type)

/** Returns whether an operation cannot be undone, or overwrites something. */
function isDestructive(operationId: string, path: string): boolean {
  const loses =
    /^(restoreSite|startImport|syncSites|undoOperation|batchDestroy|removeSiteCollaborator|pushEnvironment|pullEnvironment)/
  if (loses.test(operationId)) return true
  return /^(delete|revoke)/.test(operationId) && path.includes('{')
}
