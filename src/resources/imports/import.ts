import Type from 'typebox'
import { defaultPhpVersion } from '../../hosting/php/runtime.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Needed } from '../access/still-allowed.ts'
import { ImportPluginSchema, ImportSourceSchema, type OldSource } from './old-site/old-site-source.ts'

export const ImportId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Limit of files in one import. */
export const MOST_SOURCES = 30
/** Limit of imports with staged data for each account. */
export const MOST_STAGED = 5
/** Limit of one part of an upload, which a slow connection cannot send in a minute. */
export const MOST_PART_BYTES = 16 << 20
/** How long staged data is kept. */
export const STAGED_MS = 24 * 3_600_000

export const importStates = ['uploading', 'waiting', 'inspecting', 'ready', 'importing', 'imported', 'failed'] as const
export type ImportState = (typeof importStates)[number]

/** States in which an import has, or will have, data on the disk of its host. */
export const stagedStates: readonly ImportState[] = ['uploading', 'waiting', 'inspecting', 'ready', 'importing']

const Text = (description: string, example: string) => Type.String({ description, examples: [example] })

const Plugin = Type.Object(
  {
    path: Text('Below wp-content/plugins', 'akismet'),
    name: Type.String({ examples: ['Akismet Anti-spam'] }),
    version: nullable(Type.String({ examples: ['5.3'] })),
    isActive: Type.Boolean({ examples: [true] }),
    requiresPhp: nullable(Type.String({ examples: ['7.2'] })),
    requiresWordpress: nullable(Type.String({ examples: ['5.8'] })),
    note: nullable(Type.String({ description: 'What it needs after the move', examples: [null] })),
  },
  { title: 'ImportPlugin' },
)

const LeftOut = Type.Object(
  {
    path: Text('Below the web root', 'wp-content/object-cache.php'),
    reason: oneOf(['drop-in', 'cache', 'host', 'backup', 'platform'], {
      description: 'Why it is left out; `host`: it belongs to the old host; `platform`: Stead adds its own',
    }),
  },
  { title: 'ImportLeftOut' },
)

/** The plan of an import: its source, its target, and its changes to the content. */
export const ImportPlan = Type.Object(
  {
    format: oneOf(['wpress', 'updraftplus', 'duplicator', 'files'], {
      description: 'The tool that created the archive; `files` means files and a dump of the database',
    }),
    from: Type.Object(
      {
        home: Text('Address of the old site', 'https://old.example.com'),
        title: Type.String({ examples: ['My site'] }),
        wordpress: nullable(Type.String({ examples: ['6.8'] })),
        php: nullable(Type.String({ examples: ['7.4'] })),
      },
      { title: 'ImportFrom' },
    ),
    to: Type.Object(
      {
        address: Type.String({ examples: ['my-site.example.com'] }),
        wordpress: nullable(Type.String({ examples: ['6.8'] })),
        php: Type.String({ examples: [defaultPhpVersion] }),
      },
      { title: 'ImportTo' },
    ),
    files: Type.Object(
      {
        count: Type.Integer({ examples: [2140] }),
        bytes: Type.Integer({ examples: [81_920_000] }),
        links: Type.Integer({ description: 'Links in the archive, which are left out', examples: [0] }),
      },
      { title: 'ImportFiles' },
    ),
    database: Type.Object(
      {
        tables: Type.Integer({ examples: [14] }),
        rows: Type.Integer({ examples: [5321] }),
        bytes: Type.Integer({ description: 'Of the dump', examples: [4_100_000] }),
        prefix: Text('Table prefix, which the site adopts', 'wp_'),
      },
      { title: 'ImportDatabase' },
    ),
    addresses: Type.Array(
      Type.Object(
        {
          from: Type.String({ examples: ['old.example.com'] }),
          to: Type.String({ examples: ['my-site.example.com'] }),
        },
        { title: 'ImportAddress' },
      ),
      { description: 'Host names that are rewritten everywhere' },
    ),
    plugins: Type.Array(Plugin),
    themes: Type.Array(Type.String({ examples: ['twentytwentyfive'] })),
    mustUsePlugins: Type.Array(Type.String({ examples: ['own-login.php'] }), {
      description: 'Must-use plugins that are imported, below wp-content/mu-plugins',
    }),
    leftOut: Type.Array(LeftOut, { description: 'Left out unless the start says otherwise' }),
    warnings: Type.Array(Type.String({ examples: ['The plugin Forms needs PHP 8.3, and the site runs PHP 8.2.'] })),
    blockers: Type.Array(Type.String({ examples: ['The archive has a network of sites.'] }), {
      description: 'Reasons that keep the import from starting',
    }),
  },
  { title: 'ImportPlan' },
)
export type ImportPlan = Type.Static<typeof ImportPlan>

/** Page of the old site, compared with the same page of the new one. */
export const ComparedPage = Type.Object(
  {
    path: Type.String({ examples: ['/about/'] }),
    old: nullable(
      Type.Object(
        { status: Type.Integer({ examples: [200] }), title: Type.String({ examples: ['About'] }) },
        { title: 'ImportOldPage' },
      ),
    ),
    new: Type.Object(
      { status: Type.Integer({ examples: [200] }), title: Type.String({ examples: ['About'] }) },
      { title: 'ImportNewPage' },
    ),
    sameText: nullable(
      Type.Integer({
        description: 'Share of equal words on both pages, in percent; null if the old site does not answer',
        examples: [98],
      }),
    ),
    differentPicture: nullable(
      Type.Number({
        description:
          'Difference between the screenshots of both pages, in percent (their upper 1,280 × 1,600 pixels); null if they were not compared',
        examples: [2.5],
      }),
    ),
    noPicture: nullable(
      Type.String({ description: 'Why the screenshots were not compared; null if they were', examples: [null] }),
    ),
  },
  { title: 'ImportComparedPage' },
)
export type ComparedPage = Type.Static<typeof ComparedPage>
/** Imports of earlier releases have no pictures. */
type StoredComparedPage = Omit<ComparedPage, 'differentPicture' | 'noPicture'> & Partial<ComparedPage>

const ChecklistItem = Type.Object(
  { title: Type.String({ examples: ['Lower the TTL'] }), text: Type.String({ examples: ['Set it to 300 seconds.'] }) },
  { title: 'ImportChecklistItem' },
)
export type ChecklistItem = Type.Static<typeof ChecklistItem>

/** File that a client uploads. */
export const ImportUpload = Type.Object(
  {
    number: Type.Integer({ description: 'Names the file in the path of its parts', examples: [1] }),
    name: Type.String({ examples: ['backup.wpress'] }),
    bytes: Type.Integer({ description: 'Size of the complete file', examples: [81_920_000] }),
    received: Type.Integer({ description: 'Where the next part begins', examples: [8_388_608] }),
  },
  { title: 'ImportUpload' },
)
export type ImportUpload = Type.Static<typeof ImportUpload>

export const ImportSchema = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    state: oneOf(importStates, {
      description:
        '`uploading`: its files are not complete yet; `waiting`: for its plugin on the old site; `inspecting`; `ready` with its `plan`; `importing`; `imported`; `failed`: it could not be inspected',
    }),
    sources: Type.Array(Type.String({ examples: ['https://old.example.com/backup.zip'] }), {
      description: 'Addresses of its files, or the names of those that are uploaded',
    }),
    uploads: Type.Array(ImportUpload, { description: 'Files that are uploaded. Empty when Stead fetches them' }),
    source: nullable(ImportSourceSchema),
    plugin: nullable(ImportPluginSchema),
    plan: nullable(ImportPlan),
    comparison: nullable(Type.Array(ComparedPage, { description: 'The front page and five others, after the import' })),
    checklist: Type.Array(ChecklistItem, { description: 'The steps until visitors reach the new site, in order' }),
    error: nullable(Type.String({ description: 'Why the last attempt failed', examples: [null] })),
    operationId: nullable(Type.Integer({ description: 'The last operation that worked on it', examples: [12] })),
    created: Timestamp,
    expires: Timestamp,
  },
  { title: 'Import' },
)

/** Import as it is stored. */
export interface StoredImport {
  readonly id: number
  readonly siteId: number
  readonly state: ImportState
  readonly sources: readonly string[]
  /** Null if its files are fetched. */
  readonly uploads: readonly ImportUpload[] | null
  /** The running old site, or null if it comes from files. */
  readonly live: OldSource | null
  /** Sealed. Null once the import has ended. */
  readonly liveSecret: string | null
  readonly starts: boolean
  readonly plan: ImportPlan | null
  readonly comparison: readonly StoredComparedPage[] | null
  readonly error: string | null
  readonly operationId: number | null
  readonly createdAt: number
  readonly expiresAt: number
}

/** Removes the query of an address, which holds the secret of signed links. */
const withoutQuery = (address: string): string => {
  const url = URL.parse(address)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : address
}

/** Returns the Import object of the API. */
export function presentImport(
  found: StoredImport,
  checklist: readonly ChecklistItem[],
): Type.Static<typeof ImportSchema> {
  const { id, state, sources, uploads, live, plan, comparison, error, operationId, createdAt, expiresAt } = found
  return {
    ...{ id, state, plan, error, operationId },
    sources: uploads ? uploads.map(({ name }) => name) : sources.map(withoutQuery),
    uploads: [...(uploads ?? [])],
    source: live?.type === 'ssh' ? live : null,
    plugin: live?.type === 'plugin' ? { address: live.address } : null,
    // those of before pictures have neither
    comparison: comparison?.map((page) => ({ differentPicture: null, noPicture: null, ...page })) ?? null,
    checklist: [...checklist],
    created: timestamp(createdAt),
    expires: timestamp(expiresAt),
  }
}

/** Returns what is never imported, whatever the request says, because it fits only the old host. */
export const alwaysLeftOut = ({ leftOut }: Pick<ImportPlan, 'leftOut'>): string[] =>
  leftOut.flatMap(({ path, reason }) => (reason === 'drop-in' || reason === 'platform' ? [path] : []))

/** Returns the access that the requesting account needs, from the request until the work ends. */
export const rightsOfImport = ({ siteId }: { readonly siteId: number }): readonly Needed[] => [
  { siteId, capability: 'restore the site' },
]
