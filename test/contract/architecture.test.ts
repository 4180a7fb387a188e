/** Which part may import which. `docs/design` and the head of each folder say why. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'
import { circlesOf, importsOf } from '../support/imports.ts'

interface Import {
  readonly from: string
  readonly to: string
}

const isTest = (file: string) => /\.(test|fixture|contract)\.ts$|test-support\.ts$|\/harness\.ts$/.test(file)
const sources = globSync('src/**/*.{ts,tsx}').filter((file) => !isTest(file))
const textOf = (file: string) => readFileSync(file, 'utf8')

const imports: Import[] = sources.flatMap((from) =>
  [...textOf(from).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) => ({
    from,
    to: normalize(join(dirname(from), path as string)),
  })),
)

/** `src/edge/rules/index.ts` → `edge`. A file directly in src is a part: `app.ts`. */
const partOf = (file: string): string => file.split('/')[1] as string
const resourceOf = (file: string): string | undefined => /^src\/resources\/(?!kit\/|access\/)([\w-]+)\//.exec(file)?.[1]

/** Each part, and all that it may import. */
const allowed: Record<string, readonly string[]> = {
  'main.ts': ['roles', 'cli', 'config.ts', 'platform'],
  roles: [
    'app.ts',
    'jobs.ts',
    'schedules.ts',
    'resources',
    'hosting',
    'edge',
    'dns',
    'certificates',
    'backups',
    'platform',
    'config.ts',
    'budgets.ts',
    'version.ts',
    'cli',
    'migrations',
  ],
  // A command uses the same context as roles, or asks the API's composition for its description.
  cli: [
    'roles',
    'sdk',
    'app.ts',
    'resources',
    'hosting',
    'certificates',
    'backups',
    'platform',
    'config.ts',
    'version.ts',
    'migrations',
  ],
  'app.ts': ['resources', 'jobs.ts', 'platform', 'config.ts', 'budgets.ts', 'version.ts'],
  // Lists of all background work, apart from the API, so that a host does not load it.
  'jobs.ts': ['resources', 'platform'],
  'schedules.ts': ['resources', 'platform'],
  resources: [
    ...['hosting', 'edge', 'dns', 'certificates', 'backups', 'platform', 'config.ts', 'site-flags.ts'],
    'colors.ts',
  ],
  edge: ['site-flags.ts', 'platform'],
  dns: ['platform'],
  certificates: ['platform'],
  // Sites know the content of a backup. Backups do not know sites.
  hosting: ['backups', 'site-flags.ts', 'platform'],
  backups: ['platform'],
  platform: [],
  'config.ts': ['setting-values.ts', 'platform'],
  'budgets.ts': ['config.ts', 'platform'],
  'setting-values.ts': [],
  // The columns of the table of sites that roles act on.
  'site-flags.ts': ['platform'],
  'version.ts': [],
  // Also run in browsers.
  'colors.ts': [],
  sdk: [],
  panel: ['sdk', 'colors.ts'],
}

/** Returns a file and everything that it loads at once, without type imports and dynamic imports. */
function loadedBy(file: string, known = new Set<string>()): string[] {
  known.add(file)
  for (const [, path] of textOf(file).matchAll(/^(?:import|export) (?!type )[^'"`;]*?from '(\.[^']+)'/gm)) {
    const to = normalize(join(dirname(file), path as string))
    if (to.startsWith('src/') && !known.has(to)) loadedBy(to, known)
  }
  return [...known]
}

describe('imports', () => {
  it('go down only: main, roles, app, resources, then hosting and edge, then platform', () => {
    const outside = imports
      .map(({ from, to }) => ({
        from,
        to,
        part: partOf(from),
        target: to.startsWith('src/') ? partOf(to) : (to.split('/')[0] as string),
      }))
      .filter(({ part, target }) => part !== target && !allowed[part]?.includes(target))
    expect(outside.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  it('name a file that exists', () => {
    const known = new Set(globSync('{src,migrations}/**/*.{ts,tsx,js,css}'))
    expect(imports.filter(({ to }) => !known.has(to) && to !== 'package.json')).toEqual([])
  })

  it('go one way between resources: two folders never import from each other', () => {
    const known = imports
      .map(({ from, to }) => [resourceOf(from), resourceOf(to)])
      .filter(([from, to]) => from && to && from !== to)
      .map(([from, to]) => `${from} → ${to}`)
    const pairs = known.filter((way) => known.includes(way.split(' → ').reverse().join(' → ')))
    expect([...new Set(pairs)]).toEqual([])
  })

  it('let only sites/ write the table of sites', () => {
    const writes = /(?:updateTable|insertInto|deleteFrom)\('sites'\)/
    const writers = sources.filter((file) => writes.test(textOf(file)) && resourceOf(file) !== 'sites')
    expect(writers).toEqual([])
  })

  it('record and start through the change; only jobs may enqueue directly', () => {
    const means = /\/(operations\/enqueue|activity\/record|webhooks\/record-event)\.ts$/
    const using = imports.filter(({ from, to }) => from.startsWith('src/resources/') && means.test(to))
    const isJobs = ({ from, to }: Import) => from.endsWith('.job.ts') && to.endsWith('/enqueue.ts')
    const others = using.filter((each) => !isJobs(each) && each.from !== 'src/resources/kit/change.ts')
    expect(others.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  it('load no endpoint of the API, and no Fastify, on a host', () => {
    const loaded = loadedBy('src/roles/host.ts')
    expect(loaded).toContain('src/resources/notes/index.ts')
    expect(loaded.filter((file) => /^src\/(app\.ts|resources\/[\w-]+\/endpoints\.ts)$/.test(file))).toEqual([])
    expect(loaded.filter((file) => /^import (?!type).* from '@?fastify/m.test(textOf(file)))).toEqual([])
  })

  it('list resources once: nothing else imports the index of one', () => {
    const faces = imports.filter(({ to }) => /^src\/resources\/[\w-]+\/index\.ts$/.test(to))
    expect([...new Set(faces.map(({ from }) => from))]).toEqual(['src/resources/index.ts'])
  })

  it('load the program that runs inside PHP only in its own process', () => {
    const inside = imports.filter(
      ({ from, to }) => to.includes('/php/wasm/child/') && !from.includes('/php/wasm/child/'),
    )
    expect(inside).toEqual([])
  })

  it('of the program that works on a database in a sandbox lead to its own folder, which is all that the sandbox has', () => {
    const loaded = loadedBy('src/hosting/site-database/child/main.ts')
    expect(loaded.length).toBeGreaterThan(5)
    expect(loaded.filter((file) => !file.startsWith('src/hosting/site-database/'))).toEqual([])
  })
})

describe('public.ts of a resource', () => {
  const named = sources.flatMap(importsOf)
  const publicOf = (resource: string) => `src/resources/${resource}/public.ts`
  const isShared = (file: string) => /^src\/resources\/(?:kit|access)\//.test(file)
  /** Imports of a resource by what is outside of it. `src/resources/index.ts` composes the resources from their indexes. */
  const foreign = named.filter(
    ({ from, to }) => resourceOf(to) !== undefined && resourceOf(from) !== resourceOf(to) && !to.endsWith('/index.ts'),
  )
  const lists = foreign
    .map(({ to }) => publicOf(resourceOf(to) as string))
    .filter((file, at, all) => sources.includes(file) && all.indexOf(file) === at)
  const published = lists.flatMap(importsOf).flatMap(({ from, to, names }) => names.map((name) => ({ from, to, name })))

  it('is all that other resources import', () => {
    const past = foreign.filter(
      ({ from, to }) => resourceOf(from) !== undefined && to !== publicOf(resourceOf(to) as string),
    )
    expect(past.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  it('names all that roles, commands and the composition import, directly so that a process loads no more', () => {
    const isPublished = (file: string, name: string) =>
      published.some((each) => each.name === name && (each.to === file || each.from === file))
    const unnamed = foreign
      .filter(({ from }) => resourceOf(from) === undefined && !isShared(from))
      .flatMap(({ from, to, names }) =>
        names.filter((name) => !isPublished(to, name)).map((name) => `${from} imports ${name} of ${to}`),
      )
    expect(unnamed).toEqual([])
  })

  it('has no name that nobody outside imports', () => {
    const unused = published.filter(
      ({ from, to, name }) => !foreign.some((each) => [from, to].includes(each.to) && each.names.includes(name)),
    )
    expect(unused.map(({ from, name }) => `${from}: ${name}`)).toEqual([])
  })

  it('is the only file of a resource that exports what is in another', () => {
    const passing = named.filter(({ from, isExport }) => isExport && resourceOf(from) !== undefined)
    expect([...new Set(passing.map(({ from }) => from))].toSorted()).toEqual(lists.toSorted())
  })
})

it('no files import each other, directly or through others, not even for types', () => {
  expect(circlesOf(sources.flatMap(importsOf))).toEqual([])
})

/** Returns what stays in a process once a file is loaded: its static imports of values. */
const loadedWith = (...files: readonly string[]): string[] => {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const todo = [...files]
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const [, path = ''] of textOf(file).matchAll(
      /^(?:import|export)(?! type\b)[^']*?\bfrom '([^']+)'|^import '[^']+'/gm,
    ))
      if (path.startsWith('.')) todo.push(normalize(join(dirname(file), path)))
      else packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] as string)
  }
  return [...packages]
}

describe('memory', () => {
  it('the supervisor loads nothing for databases', () => {
    const loaded = loadedWith('src/main.ts', 'src/cli/commands.ts', 'src/roles/supervisor.ts')
    expect(loaded).toContain('pino')
    for (const name of ['kysely', 'pg', 'typebox', 'undici']) expect(loaded).not.toContain(name)
  })

  it.each([
    ['control', ['undici', 'ssh2', 'nodemailer', 'acme-client', 'mysql2', '@aws-sdk/client-s3']],
    ['host', ['undici', 'fastify', 'nodemailer', 'acme-client', 'mysql2', '@aws-sdk/client-s3']],
    ['edge', ['undici', 'fastify', 'typebox', 'ssh2', 'tldts']],
  ])('%s loads rarely used code only when it is first used', (role, later) => {
    const loaded = loadedWith('src/main.ts', 'src/roles/role-process.ts', `src/roles/${role}.ts`)
    expect(loaded).toContain('kysely')
    for (const name of later) expect(loaded).not.toContain(name)
  })
})

describe('the process', () => {
  const using = (pattern: RegExp) => sources.filter((file) => pattern.test(withoutComments(textOf(file))))

  it('reads its environment in main only', () => {
    expect(using(/process\.env\b/)).toEqual(['src/main.ts'])
  })

  it('is ended by main, by the roles that are processes, and by programs of a sandbox', () => {
    const ends = using(/process\.(exit\(|exitCode|reallyExit)/).filter((file) => !isRole(file))
    expect(ends.toSorted()).toEqual([
      'src/hosting/page-measure/runner.ts',
      'src/hosting/php/native/network-child.ts',
      'src/main.ts',
    ])
  })

  const isRole = (file: string) => partOf(file) === 'roles'
})

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')

it('versions of PHP are written in one place', () => {
  const places = sources.filter((file) => /'8\.\d'/.test(withoutComments(textOf(file))))
  expect(places).toEqual(['src/hosting/php/runtime.ts'])
})

it.each([
  ['lengths of time', /const (?:MINUTE|HOUR|DAY|WEEK)_MS =/, 'src/platform/durations.ts'],
  ['places of a database that is a file', /'[^']*site\.sqlite'/, 'src/hosting/site-database/sqlite-place.ts'],
])('%s are written in one place', (_what, pattern, place) => {
  expect(sources.filter((file) => pattern.test(withoutComments(textOf(file))))).toEqual([place])
})

describe('functions', () => {
  const MOST_LINES = 60
  /** A table with a row for each budget. */
  const known = ['src/budgets.ts: hostBudgets']

  it(`have at most ${MOST_LINES} lines of their own, without those of inner functions`, () => {
    // Most lines of panel pages are markup.
    const read = sources.filter((file) => !file.endsWith('.tsx'))
    const long = read.flatMap((file) =>
      functionsOf(file)
        .filter(({ lines }) => lines > MOST_LINES)
        .map(({ name }) => `${file}: ${name}`),
    )
    expect(long).toEqual(known)
  })
})

describe('state of a process', () => {
  /** The state of current work, such as open connections, which cannot be reset. */
  const atWork = ['src/resources/must-use-plugins/alone.ts', 'src/platform/db/postgres-silence.ts']
  const keeping = /^(?:export )?const (\w+)(?:: [^=]+)? = new (?:Map|Set|LRUCache)(?:<.*>)?\((?:\{.*\})?\)$/gm

  it('is declared, so that tests can reset it for the next file', () => {
    const undeclared = sources
      .filter((file) => !atWork.includes(file) && partOf(file) !== 'panel')
      .filter((file) => [...textOf(file).matchAll(keeping)].some(() => !textOf(file).includes('declareMemory(')))
    expect(undeclared).toEqual([])
    for (const file of atWork) expect(textOf(file)).toMatch(keeping)
  })
})

interface Syntax {
  readonly type?: string
  readonly start: number
  readonly end: number
  readonly id?: { readonly name?: string } | null
  readonly key?: { readonly name?: string }
  readonly body?: unknown
}

/** Returns all functions of a file with their names and their own lines. */
function functionsOf(file: string): { name: string; lines: number }[] {
  const text = textOf(file)
  const found: { name: string; lines: number }[] = []
  /** @returns the lines of functions inside a node */
  const look = (syntax: unknown, named: string): number => {
    if (typeof syntax !== 'object' || syntax === null) return 0
    if (Array.isArray(syntax)) return syntax.reduce((sum, each) => sum + look(each, named), 0)
    const { type = '', start, end, id, key, body } = syntax as Syntax
    const name = id?.name ?? key?.name ?? named
    const within = Object.values(syntax).reduce((sum, each) => sum + look(each, name), 0)
    if (!type.includes('Function') || !body) return within
    const breaks = text.slice(start, end).split('\n').length - 1
    found.push({ name, lines: breaks + 1 - within })
    return breaks
  }
  look(parseAst(text, { lang: 'ts' }, file), '')
  return found
}

describe('folders', () => {
  const MOST_FILES = 30
  /** One file for each task, or each component. People look these names up, and do not read them in order. */
  const lists = ['src/hosting/php/tasks', 'src/panel/parts']

  it(`have at most ${MOST_FILES} files, without those of subfolders`, () => {
    const files = globSync('src/**/*.*', { exclude: ['src/panel/dist/**'] })
    const count = (folder: string) => files.filter((file) => dirname(file) === folder).length
    const large = [...new Set(files.map(dirname))].filter((folder) => count(folder) > MOST_FILES)
    expect(large.filter((folder) => !lists.includes(folder))).toEqual([])
  })
})

describe('names of files', () => {
  /** Files that the house's recipes ask for, one in each folder. */
  const recipe = /^(?:index|public|endpoints|tables|problems|actions|main)\.tsx?$/
  /** Folders whose files have the names of what they are about, which is elsewhere. */
  const about: Readonly<Record<string, string>> = {
    'src/roles/': 'what a process starts or checks',
    'src/cli/': 'the nouns of commands',
    'src/panel/': 'what the API has, as people see it',
    'src/sdk/': 'the API, for programs that know nothing else of Stead',
  }
  /** Names of two files for one thing. */
  const twice: Readonly<Record<string, string>> = {
    'dump.ts': 'The same for both kinds of databases of sites',
    'endpoint.ts': 'The resources add their caller and services to the endpoint of the platform',
    'load.ts': 'The same for both kinds of databases of sites',
    'machine-code.ts': 'The host and its child process share one file of code',
    'process.ts': 'The same for each runtime',
    'program.ts': 'The same for each runtime',
    'record.ts': 'One records activity, the other is a record of the DNS',
    'sftp-access.ts': 'A host reads what the resource keeps',
    'start.ts': 'The same for each runtime',
    'zone.ts': 'The name server serves the zone that the API shows',
  }

  it('stand once, so that a name leads to one thing', () => {
    const names = sources
      .filter((file) => !Object.keys(about).some((folder) => file.startsWith(folder)))
      .map((file) => basename(file))
      .filter((name) => !recipe.test(name))
    const repeated = names.filter((name, at) => names.indexOf(name) !== at)
    expect([...new Set(repeated)].toSorted()).toEqual(Object.keys(twice))
  })
})

/** Returns the names that a file declares and exports, without those that it passes on from other files. */
function exportsOf(file: string): string[] {
  const { body } = parseAst(textOf(file), { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file)
  const names = body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source) return []
    const { declaration, specifiers } = statement as unknown as Exporting
    if (!declaration) return specifiers.map(({ exported }) => exported.name)
    return declaration.declarations?.flatMap(({ id }) => namesIn(id)) ?? [declaration.id?.name ?? '']
  })
  return [...new Set(names)]
}

interface Pattern {
  readonly name?: string
  readonly elements?: readonly (Pattern | null)[]
  readonly properties?: readonly { readonly value: Pattern }[]
}

interface Exporting {
  readonly declaration: { readonly id?: Pattern; readonly declarations?: readonly { readonly id: Pattern }[] } | null
  readonly specifiers: readonly { readonly exported: { readonly name: string } }[]
}

/** Returns the names that a declaration binds, such as `a` and `b` of `const { a, b } = …`. */
const namesIn = ({ name, elements = [], properties = [] }: Pattern): string[] =>
  name !== undefined
    ? [name]
    : [...elements.flatMap((each) => each ?? []), ...properties.map(({ value }) => value)].flatMap(namesIn)

describe('exported names', () => {
  /** Panel, SDK, and commands say in their own files what the server has: `Site` is a site in each of them. */
  const programOf = (file: string) => /^src\/(panel|sdk|cli)\//.exec(file)?.[1] ?? 'server'
  /** Exports of the files that the recipe of a resource asks for. */
  const recipe = /^src\/resources\/[\w-]+\/(?:(endpoints|problems|actions)\.ts: \1|actions\.ts: events)$/
  /** The functions that run commands have the verb of the command, such as `list` for `stead host list`. */
  const verbs = [...textOf('src/cli/commands.ts').matchAll(/import\('\.\/([^']+)'\)\)\.(\w+)/g)].map(
    ([, file, name]) => `src/cli/${file}: ${name}`,
  )

  it('stand in one file of a program, so that a name has one meaning', () => {
    const exported = sources.flatMap((file) =>
      exportsOf(file).map((name) => ({ file, name, place: `${file}: ${name}`, program: programOf(file) })),
    )
    expect(exported.length).toBeGreaterThan(4000)
    const compared = exported.filter(({ place }) => !recipe.test(place) && !verbs.includes(place))
    const known = Map.groupBy(compared, ({ program, name }) => `${program}: ${name}`)
    const repeated = [...known].filter(([, places]) => places.length > 1)
    expect(repeated.map(([name, places]) => [name, ...places.map(({ file }) => file)])).toEqual([])
  })
})

it('files that have grown past 350 lines, for review', () => {
  const long = sources
    .map((file) => ({ file, lines: textOf(file).split('\n').length }))
    .filter(({ lines }) => lines > 350)
  if (long.length > 0) console.warn(`Long files: ${long.map(({ file, lines }) => `${file} (${lines})`).join(', ')}`)
  expect(sources.length).toBeGreaterThan(100)
})
