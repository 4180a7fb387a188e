import { readFileSync } from 'node:fs'
import { nounOf, verbsOf } from './names.ts'

/** A JSON schema, as far as a command line can say a value of it. */
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

/** Something that an operation is told: in its path, its query or its body. */
export interface Field {
  readonly name: string
  /** The flag, without dashes; in the help of words: SITE. */
  readonly flag: string
  readonly in: 'path' | 'query' | 'body'
  readonly schema: Schema
  readonly isNeeded: boolean
}

/** A command that is one operation of the API. */
export interface ApiCommand {
  /** `sites create` */
  readonly name: string
  readonly noun: string
  readonly verb: string
  readonly about: string
  readonly description: string
  readonly operationId: string
  readonly method: 'get' | 'post' | 'put' | 'delete'
  readonly path: string
  /** What words after the name stand for, in their order. The last may take all that follow. */
  readonly words: readonly Field[]
  /** What flags stand for; words of the body are among them. */
  readonly flags: readonly Field[]
  readonly hasBody: boolean
  readonly startsWork: boolean
  readonly isPaged: boolean
  readonly answers: 'json' | 'file' | 'events'
  /** Asks for the name of what it is about, on a terminal. */
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
  /** Each noun and what it is about. */
  readonly nouns: Readonly<Record<string, string>>
}

/** Flags that all of these commands have: a field of the same name is `--set-<name>`. */
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

/** The OpenAPI document, read when it is first asked for. */
export function apiDocument(): Document {
  document ??= JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as Document
  return document
}

/** The commands that the OpenAPI document has. */
export function catalogue(): Catalogue {
  known ??= catalogueOf(apiDocument())
  return known
}

/** What people sign in with in the control panel: programs have tokens. */
const FOR_BROWSERS = 'Sign-in'

/** A part of a file: a command sends whole files (`own-commands.ts`). */
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
  const verbs = verbsOf(
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
  const given = parameters.filter((each) => !each.$ref)
  const fieldsIn = (place: 'path' | 'query') =>
    given
      .filter((each) => each.in === place)
      .map(({ name, required = false, schema, description }) => {
        const whole = { ...resolved(schema), ...(description && { description }) }
        return { name, flag: flagOf(name), in: place, schema: whole, isNeeded: required } as const
      })
  const body = bodyFields(requestBody, resolved)
  const taken = new Set(body.map(({ name }) => name))
  const inPath = fieldsIn('path').sort((a, b) => path.indexOf(`{${a.name}}`) - path.indexOf(`{${b.name}}`))
  const success = Object.entries(responses).find(([status]) => Number(status) < 300)?.[1] ?? {}
  const contents = Object.entries(success.content ?? {})
  const [type = 'application/json', content] =
    contents.find(([type]) => type === 'application/json') ?? contents[0] ?? []
  const answers = type === 'text/event-stream' ? 'events' : type === 'application/json' ? 'json' : 'file'
  return {
    ...{ about: summary, description, operationId, path },
    method: method as ApiCommand['method'],
    words: [...inPath.map((field) => ({ ...field, flag: wordOf(path, field.name) })), ...bodyWords(body)],
    flags: [...fieldsIn('query').filter(({ name }) => !taken.has(name)), ...body],
    hasBody: requestBody !== undefined,
    startsWork: Object.keys(success.headers ?? {}).includes('Operation-Id'),
    isPaged: content?.schema.properties?.page !== undefined,
    answers,
    isDestructive: isDestructive(operationId, path),
  } as const
}

function bodyFields(requestBody: Operation['requestBody'], resolved: (schema: Schema) => Schema): Field[] {
  const content = requestBody && (requestBody.content['application/json'] ?? Object.values(requestBody.content)[0])
  if (!content) return []
  const { properties = {}, required = [] } = resolved(content.schema)
  return Object.entries(properties).map(([name, schema]) => {
    const whole = { ...resolved(schema), ...(schema.items && { items: resolved(schema.items) }) }
    return { name, flag: flagOf(name), in: 'body', schema: whole, isNeeded: required.includes(name) }
  })
}

/** `siteIds` → `site-ids`. What every command has keeps its name. */
function flagOf(name: string): string {
  const flag = name
    .replace(/[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()
    .replaceAll('_', '-')
  return ownFlags.includes(flag) ? `set-${flag}` : flag
}

/** What a word of the path stands for: `/v1/sites/{id}` → SITE, `…/domains/{id}` → DOMAIN. */
function wordOf(path: string, name: string): string {
  const before = path.split(`/{${name}}`)[0]?.split('/').at(-1) ?? name
  const noun =
    name === 'id' || name === 'site_id' ? before.replace(/ies$/, 'y').replace(/s$/, '') : name.replace(/_id$/, '')
  return noun.toUpperCase().replaceAll('_', '-')
}

/** What must be said, or the one thing that can be: a word needs no flag. Yes and no are flags. */
function bodyWords(body: readonly Field[]): Field[] {
  const only = body.length === 1 && !isOfType(body[0]?.schema, 'boolean') ? body : []
  const needed = body.filter(({ isNeeded, schema }) => isNeeded && !isOfType(schema, 'boolean'))
  const words = needed.length > 0 ? needed : only
  // what takes several words is last
  const lists = words.filter(({ schema }) => isOfType(schema, 'array'))
  return [...words.filter((field) => !lists.includes(field)), ...lists.slice(0, 1)]
}

/** The number of a site, or several. Its name does as well. */
export const isSiteId = ({ name }: Field): boolean => /site_?ids?$/i.test(name)

export const isOfType = (schema: Schema | undefined, type: string): boolean => [schema?.type].flat().includes(type)

/** What cannot be had back, and what is written over. */
function isDestructive(operationId: string, path: string): boolean {
  if (/^(restoreSite|startImport|syncSites|undoOperation|batchDestroy|removeSiteCollaborator)/.test(operationId))
    return true
  return /^(delete|revoke)/.test(operationId) && path.includes('{')
}
