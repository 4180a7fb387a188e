import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { PhpTaskError } from './task-error.ts'

/*
 * Stead's PHP tasks (`tasks/<name>.php`): the input of each, and the possible answers. A task runs among the plugins of
 * a site, any of which can answer in its place. So no part of an answer is used before it is checked.
 */

const closed = { additionalProperties: false } as const
const nothing = Type.Object({}, closed)
const Login = Type.String({ minLength: 1, maxLength: 60, pattern: '^[^\\u0000-\\u001f\\u007f]+$' })
/** The ID of a table's row. */
const Id = Type.Integer({ minimum: 1 })
const Count = Type.Integer({ minimum: 0 })
const reset = { password: Type.String() }
/** Whether the site has its own object cache, which was not informed. */
const dropIn = Type.Boolean()
const person = { email: Type.String(), name: Type.String(), login: Type.String() }
/** The database's messages about statements that it refused. */
const databaseErrors = Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })
/** A plugin, as WordPress names it: its main file below `wp-content/plugins`. */
const PluginFile = Type.String({ minLength: 1, maxLength: 500 })
/** Whether to run without other plugins and the theme. */
const isSafe = Type.Boolean()
/** A scheduled event, as WordPress names it. */
const Hook = Type.String({ maxLength: 500 })
const BlogAddress = Type.Object(
  {
    domain: Type.String({ pattern: '^[A-Za-z0-9.-]{1,253}(:\\d{1,5})?$' }),
    path: Type.String({ pattern: '^/([A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*$', maxLength: 200 }),
  },
  closed,
)
export type BlogAddress = Static<typeof BlogAddress>
const ListedPlugin = Type.Object(
  {
    file: PluginFile,
    /** The plugin's folder or, without one, its file without `.php`. */
    name: Type.String({ maxLength: 200 }),
    title: Type.String({ maxLength: 200 }),
    description: Type.String({ maxLength: 2000 }),
    version: Type.String({ maxLength: 100 }),
    status: Type.Union([
      Type.Literal('active'),
      Type.Literal('active-network'),
      Type.Literal('inactive'),
      Type.Literal('must-use'),
      Type.Literal('dropin'),
    ]),
    update: Type.Union([Type.Literal('none'), Type.Literal('available'), Type.Literal('version higher than expected')]),
    updateVersion: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
    /** Whether WordPress updates it automatically. Lists that an older Stead stored do not say. */
    isAutomatic: Type.Optional(Type.Boolean()),
  },
  closed,
)
export type ListedPlugin = Static<typeof ListedPlugin>
const ListedTheme = Type.Object(
  {
    /** Its folder below `themes`. */
    name: Type.String({ minLength: 1, maxLength: 200 }),
    title: Type.String({ maxLength: 200 }),
    version: Type.String({ maxLength: 100 }),
    /** Also true for the parent of the active theme. */
    isActive: Type.Boolean(),
    updateVersion: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
    isAutomatic: Type.Boolean(),
  },
  closed,
)
export type ListedTheme = Static<typeof ListedTheme>

/**
 * The pages that Stead checks in addition to the front page: two as an administrator, the REST API's index without a
 * login.
 */
export const innerPages = ['admin', 'editor', 'rest'] as const
export type InnerPage = (typeof innerPages)[number]

/**
 * Tasks that change nothing of a site except what its visitors and events change anyway. Visitors do not wait for them
 * if PHP can do both at the same time.
 */
export const besideVisitors: ReadonlySet<string> = new Set([
  'check-site',
  'count-rows',
  'cron',
  'front-page',
  'inner-page',
  'list-plugins',
  'log-in',
  'newest-pages',
  'php-info',
] satisfies TaskName[])

/**
 * Tasks that Stead repeats without the site's plugins if a plugin ended WordPress before the task started. Excluded are
 * tasks that check what visitors and events get, and tasks that need the plugins.
 */
export const alsoWithoutPlugins: ReadonlySet<string> = new Set([
  'check-copy',
  'count-rows',
  'delete-plugin',
  'delete-user',
  'ensure-administrator',
  'fit-network',
  'make-network',
  'newer-than',
  'replace-address',
  'site-title',
  'switch-plugin',
  'upgrade-blogs',
  'upgrade-database',
  'upgrade-plugin',
  'upgrade-theme',
  'use-http',
  'write-license',
] satisfies TaskName[])

const schemas = {
  'check-copy': { input: nothing, output: Type.Object({ home: Type.String() }, closed) },
  'check-php': {
    input: nothing,
    output: Type.Object(
      {
        fault: Type.Union([
          Type.Object({ message: Type.String({ maxLength: 4000 }), line: Count }, closed),
          Type.Null(),
        ]),
      },
      closed,
    ),
  },
  'check-site': {
    input: nothing,
    output: Type.Object(
      {
        title: Type.String(),
        /** Null if the page is not shared. */
        page: Type.Union([
          Type.Object(
            {
              /** Alternating names and values. */
              headers: Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 200 }),
              /** In base64. */
              body: Type.String({ maxLength: 1 << 20 }),
            },
            closed,
          ),
          Type.Null(),
        ]),
      },
      closed,
    ),
  },
  cron: {
    input: Type.Object(
      {
        /** A site of the network other than its main one. */
        blog: Type.Optional(Type.Union([BlogAddress, Type.Null()])),
        /** How often events have failed in a row. */
        failures: Type.Optional(Type.Array(Type.Object({ hook: Hook, times: Count }, closed), { maxItems: 100 })),
        /** The event that the host ended. */
        cutOff: Type.Optional(Type.Union([Hook, Type.Null()])),
      },
      closed,
    ),
    output: Type.Object(
      {
        ran: Count,
        failed: Type.Array(Hook, { maxItems: 100 }),
        /** Events that passed after they had failed before. */
        passed: Type.Array(Hook, { maxItems: 100 }),
        /** Whether an event ended the request while others are due. */
        isMore: Type.Boolean(),
        /** Other sites of the network whose events are due. */
        blogs: Type.Array(BlogAddress, { maxItems: 200 }),
        nextInSeconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
      },
      closed,
    ),
  },
  'delete-plugin': {
    input: Type.Object({ file: PluginFile, isSafe }, closed),
    output: Type.Object({ deleted: Type.Literal(true) }, closed),
  },
  'delete-user': {
    input: Type.Object(
      {
        email: Type.String(),
        reassign: Type.Union([Type.Literal('next'), Type.Literal('oldest')]),
        keep: Type.Object({ login: Type.String(), email: Type.String() }, closed),
      },
      closed,
    ),
    output: Type.Object({ deleted: Type.Boolean(), heir: Type.Union([Login, Type.Null()]) }, closed),
  },
  'ensure-administrator': {
    input: Type.Object(person, closed),
    output: Type.Object({ login: Login, created: Type.Boolean() }, closed),
  },
  'fit-network': {
    input: Type.Object({ address: Type.String(), isCopy: Type.Boolean(), others: Type.Array(Type.String()) }, closed),
    output: Type.Object(
      {
        /** The number of blogs that had a separate domain, and are folders now. */
        moved: Count,
      },
      closed,
    ),
  },
  'flush-object-cache': {
    input: nothing,
    output: Type.Object({ flushed: Type.Literal(true), dropIn: Type.Boolean() }, closed),
  },
  'front-page': { input: nothing, output: Type.Object({ status: Count, bytes: Count, databaseErrors }, closed) },
  'inner-page': {
    input: Type.Object(
      { page: Type.Union([Type.Literal('admin'), Type.Literal('editor'), Type.Literal('rest')]) },
      closed,
    ),
    output: Type.Object(
      {
        status: Count,
        /** Whether the page is complete. */
        isWhole: Type.Boolean(),
        isRedirect: Type.Boolean(),
        databaseErrors,
      },
      closed,
    ),
  },
  install: {
    input: Type.Object(
      {
        title: Type.String(),
        user: Type.String(),
        password: Type.String(),
        email: Type.String(),
        url: Type.String(),
      },
      closed,
    ),
    output: Type.Object({ user: Id }, closed),
  },
  'list-plugins': {
    input: nothing,
    output: Type.Object(
      {
        plugins: Type.Array(ListedPlugin, { maxItems: 2000 }),
        themes: Type.Array(ListedTheme, { maxItems: 500 }),
      },
      closed,
    ),
  },
  'log-in': {
    input: Type.Object(
      { login: Type.String(), userAgent: Type.String(), remoteAddress: Type.String(), https: Type.Boolean() },
      closed,
    ),
    output: Type.Object(
      {
        cookies: Type.Array(
          Type.Object(
            {
              name: Type.String({ pattern: '^[A-Za-z0-9_]{1,200}$' }),
              value: Type.String({ minLength: 1, maxLength: 1000 }),
              path: Type.String({ pattern: '^/[A-Za-z0-9._~/-]{0,200}$' }),
              domain: Type.String({ pattern: '^[A-Za-z0-9.-]{0,253}$' }),
              isSecure: Type.Boolean(),
            },
            closed,
          ),
          { minItems: 1, maxItems: 10 },
        ),
        dropIn,
      },
      closed,
    ),
  },
  'make-network': {
    input: Type.Object({ title: Type.String() }, closed),
    output: Type.Object(
      {
        networkId: Id,
        /** The ID of the main site. */
        blogId: Id,
        /** The value of a constant. */
        path: Type.String({ maxLength: 100, pattern: '^/([A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*$' }),
        isSubdomainInstall: Type.Boolean(),
      },
      closed,
    ),
  },
  'make-shop-pages': { input: nothing, output: Type.Object({ pages: Count }, closed) },
  // PHP encodes its empty array as a list.
  'move-in': { input: nothing, output: Type.Array(Type.Unknown(), { maxItems: 0 }) },
  'php-info': {
    input: nothing,
    output: Type.Object(
      {
        version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+' }),
        opcache: Type.Union([
          Type.Object({ scripts: Count, usedBytes: Count, freeBytes: Count, hitRate: Type.Number() }, closed),
          Type.Null(),
        ]),
      },
      closed,
    ),
  },
  'count-rows': {
    input: Type.Object({ most: Count }, closed),
    output: Type.Object(
      {
        tables: Type.Array(Type.Object({ table: Type.String({ maxLength: 800 }), rows: Count }, closed), {
          maxItems: 1000,
        }),
      },
      closed,
    ),
  },
  'newer-than': {
    input: Type.Object(
      { since: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$' }), most: Count },
      closed,
    ),
    output: Type.Object(
      {
        counts: Type.Array(
          Type.Object(
            {
              table: Type.String({ maxLength: 200 }),
              kind: Type.String({ maxLength: 100 }),
              new: Count,
              changed: Count,
            },
            closed,
          ),
          { maxItems: 1000 },
        ),
        newest: Type.Array(
          Type.Object(
            {
              table: Type.String({ maxLength: 200 }),
              kind: Type.String({ maxLength: 100 }),
              id: Count,
              title: Type.String({ maxLength: 800 }),
              /** In UTC. */
              at: Type.String({ maxLength: 30 }),
            },
            closed,
          ),
          { maxItems: 1000 },
        ),
      },
      closed,
    ),
  },
  'newest-pages': {
    input: nothing,
    output: Type.Object(
      {
        pages: Type.Array(
          Type.Object(
            {
              kind: Type.Union([
                Type.Literal('post'),
                Type.Literal('page'),
                Type.Literal('product'),
                Type.Literal('cart'),
              ]),
              path: Type.String({ pattern: '^/[\\x21-\\x7e]*$', maxLength: 500 }),
            },
            closed,
          ),
          { maxItems: 4 },
        ),
      },
      closed,
    ),
  },
  'replace-address': {
    input: Type.Object({ from: Type.String(), to: Type.String() }, closed),
    output: Type.Object({ rows: Count }, closed),
  },
  'reset-administrator': {
    input: Type.Object({ ...person, ...reset }, closed),
    output: Type.Object({ login: Login, created: Type.Boolean(), dropIn }, closed),
  },
  'reset-password': {
    input: Type.Union([
      Type.Object({ login: Type.String(), ...reset }, closed),
      Type.Object({ email: Type.String(), ...reset }, closed),
    ]),
    output: Type.Object(
      {
        id: Id,
        login: Type.String(),
        email: Type.String(),
        dropIn,
      },
      closed,
    ),
  },
  'set-active-plugins': {
    input: Type.Object({ active: Type.Array(PluginFile), network: Type.Array(PluginFile) }, closed),
    output: Type.Object(
      {
        dropIn,
      },
      closed,
    ),
  },
  'switch-plugin': {
    input: Type.Object({ file: PluginFile, isActive: Type.Boolean(), isSafe }, closed),
    output: Type.Object({ isActive: Type.Boolean() }, closed),
  },
  'upgrade-blogs': {
    /** `after`: the highest blog ID that was checked. */
    input: Type.Object({ after: Count, most: Type.Integer({ minimum: 1 }) }, closed),
    output: Type.Object({ last: Count, upgraded: Count, left: Count }, closed),
  },
  'upgrade-database': {
    input: nothing,
    output: Type.Object({ upgraded: Type.Boolean() }, closed),
  },
  'upgrade-plugin': {
    input: Type.Object(
      {
        /** A folder below `wp-content`. */
        source: Type.String({ minLength: 1, maxLength: 1000 }),
        /** The file of an installed plugin; null for a new one, or one that this replaces. */
        file: Type.Union([PluginFile, Type.Null()]),
        version: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
        isSafe,
      },
      closed,
    ),
    output: Type.Object(
      { file: PluginFile, version: Type.String({ maxLength: 100 }), isActive: Type.Boolean() },
      closed,
    ),
  },
  'upgrade-theme': {
    input: Type.Object(
      {
        /** A folder below `wp-content`. */
        source: Type.String({ minLength: 1, maxLength: 1000 }),
        /** Its folder below `themes`. */
        name: Type.String({ minLength: 1, maxLength: 200 }),
        version: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
        isSafe,
      },
      closed,
    ),
    output: Type.Object({ version: Type.String({ maxLength: 100 }) }, closed),
  },
  'site-title': {
    input: nothing,
    output: Type.Object(
      { title: Type.String(), home: Type.String(), siteurl: Type.String(), version: Type.String() },
      closed,
    ),
  },
  'use-http': { input: nothing, output: Type.Object({ changed: Type.Boolean() }, closed) },
  'write-license': {
    input: Type.Object({ key: Type.Union([Type.String(), Type.Null()]) }, closed),
    output: Type.Object(
      {
        dropIn,
      },
      closed,
    ),
  },
} as const satisfies Record<string, { readonly input: TSchema; readonly output: TSchema }>

export type TaskName = keyof typeof schemas
export type TaskInput<Name extends TaskName> = Static<(typeof schemas)[Name]['input']>
export type TaskOutput<Name extends TaskName> = Static<(typeof schemas)[Name]['output']>

export const taskNames = Object.keys(schemas) as readonly TaskName[]

/** @throws TypeError for invalid input; without its values, because some are passwords */
export function checkTaskInput(name: TaskName, input: unknown): void {
  if (!Value.Check(schemas[name].input, input)) throw new TypeError(`the input does not fit the task ${name}`)
}

/**
 * Returns the answer of a task after checking its form.
 * @throws PhpTaskError when it has another form; without quoting it, because it may contain anything
 */
export function checkedTaskOutput<Name extends TaskName>(name: Name, output: unknown): TaskOutput<Name> {
  const schema: TSchema = schemas[name].output
  if (!Value.Check(schema, output)) throw new PhpTaskError(`the result does not have its form (task ${name})`)
  return output as TaskOutput<Name>
}
