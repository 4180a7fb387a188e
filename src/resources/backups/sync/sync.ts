import Type from 'typebox'
import type { FileScope } from '../../../hosting/site-files/file-content.ts'
import { syncScopes, union } from '../../../hosting/site-files/scope.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { someOf } from '../../../platform/some-of.ts'
import type { Needed } from '../../access/still-allowed.ts'
import { environmentTypes } from '../../sites/public.ts'
import type { BackupKind } from '../backup.ts'

const flag = (description: string, isUsual = false) => Type.Optional(Type.Boolean({ description, examples: [isUsual] }))

/** Body of `POST /v1/sites/sync`. */
export const NewSync = Type.Object(
  {
    from_site_id: Type.Integer({ examples: [1], description: 'Site to copy from. It does not change' }),
    to_site_id: Type.Integer({ examples: [2], description: 'Site to overwrite' }),
    themes_directory: flag('Sync theme files'),
    plugins_directory: flag('Sync plugin files'),
    uploads_directory: flag('Sync media uploads. To list them in the media library, also sync the database', true),
    wp_content_directory: flag('Sync all other files in wp-content'),
    root_directory: flag('Sync the web root without wp-content. The destination keeps its wp-config.php'),
    skip_http_check: flag('Skip the homepage check of the destination'),
    database: flag('Overwrite the complete database of the destination', true),
    wp_environment_type: Type.Optional(
      oneOf(environmentTypes, {
        description: 'Environment type of the destination after the sync. Default: its current type',
      }),
    ),
  },
  { title: 'NewSync' },
)
export type NewSync = Type.Static<typeof NewSync>

const parts = Type.Array(oneOf(['themes', 'plugins', 'mu-plugins', 'uploads', 'content', 'root']))
export type SyncPart = Type.Static<typeof parts>[number]

/** Input of the operation. */
export const SyncOrder = Type.Object({
  /** The destination. */
  siteId: Type.Integer(),
  sourceId: Type.Integer(),
  /** Parts of the files to overwrite. If empty, the files stay. */
  parts,
  /** All of it, or the names of its only tables. */
  database: Type.Union([Type.Boolean(), Type.Array(Type.String(), { minItems: 1 })]),
  skipHttpCheck: Type.Boolean(),
  environmentType: Type.Optional(oneOf(environmentTypes)),
  /** The destination's environment type at the time of the request. */
  environmentBefore: Type.Optional(oneOf(environmentTypes)),
  /** The automatic backups, which must exist before anything is overwritten. */
  backups: Type.Array(Type.Object({ siteId: Type.Integer(), backupId: Type.Integer() })),
})
export type SyncOrder = Type.Static<typeof SyncOrder>

const fields = {
  themes_directory: 'themes',
  plugins_directory: 'plugins',
  uploads_directory: 'uploads',
  wp_content_directory: 'content',
  root_directory: 'root',
} as const satisfies Partial<Record<keyof NewSync, SyncPart>>

/** Returns which parts of the files a request names. */
export const partsToSync = (body: NewSync): SyncPart[] =>
  Object.entries(fields).flatMap(([field, part]) => (body[field as keyof typeof fields] ? [part] : []))

/** Returns the kinds that need automatic backups. */
export const kindsOf = ({ parts: files, database }: Pick<SyncOrder, 'parts' | 'database'>): BackupKind[] => [
  ...(files.length > 0 ? (['fs'] as const) : []),
  ...(database ? (['db'] as const) : []),
]

/** Returns the files that a sync overwrites, which never include those that Stead runs the site with. */
export const scopeOfSync = (wanted: readonly SyncPart[]): FileScope =>
  union(wanted.map((part): FileScope => syncScopes[part]))

/** Returns the access that the requesting account needs, from the request until the work ends. */
export const rightsOfSync = ({ siteId, sourceId }: Pick<SyncOrder, 'siteId' | 'sourceId'>): readonly Needed[] => [
  { siteId: sourceId, capability: 'use backups' },
  { siteId, capability: 'restore the site' },
]

/** Describes the synced parts for users. */
export function describeSync({ parts: files, database }: Pick<SyncOrder, 'parts' | 'database'>): string {
  const names = files.map((part) => (part === 'content' ? 'other content files' : `${part} files`))
  return [...names, ...(database ? [describeTables(database)] : [])].join(', ')
}

/** How many tables a text names. */
const MOST_NAMED = 3

function describeTables(database: true | readonly string[]): string {
  if (database === true) return 'the database'
  return `${someOf(database, MOST_NAMED)} of the database`
}
