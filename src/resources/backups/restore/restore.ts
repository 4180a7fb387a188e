import Type from 'typebox'
import type { FileScope } from '../../../hosting/site-files/file-content.ts'
import { isAtOrBelow } from '../../../hosting/site-files/paths.ts'
import { nullable, oneOf } from '../../../platform/http/schemas.ts'
import type { Needed } from '../../access/still-allowed.ts'
import { environmentTypes } from '../../sites/site.ts'
import { BackupId } from '../backup.ts'

/** Parts that one request names. */
const MOST_PARTS = 100

/** A path as backups have it: relative to the web root, without empty, `.` or `..` parts. */
const PATH = /^(?!\/)(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\0]+$/

/** Body of `POST /v1/sites/{site_id}/restores`. */
export const NewRestore = Type.Object(
  {
    filesystem_id: Type.Optional(
      Type.Integer({ ...BackupId, description: 'Id of a file backup of the site', examples: [12] }),
    ),
    database_id: Type.Optional(
      Type.Integer({ ...BackupId, description: 'Id of a database backup of the site', examples: [13] }),
    ),
    restore_on_site_id: Type.Optional(
      Type.Integer({ description: 'Another site of the same account to overwrite instead' }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Report what a restore would lose, without changing anything' }),
    ),
    paths: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 1024,
          pattern: PATH.source,
          description: 'must be relative to the web root, without empty parts, `.` or `..`',
        }),
        {
          minItems: 1,
          maxItems: MOST_PARTS,
          description: 'Files and folders to restore from the file backup. Others do not change',
        },
      ),
    ),
    tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f`]+$' }), {
        minItems: 1,
        maxItems: MOST_PARTS,
        description: 'Tables to restore from the database backup. Others do not change',
      }),
    ),
  },
  { title: 'NewRestore' },
)
export type NewRestore = Type.Static<typeof NewRestore>

/** What a restore is given to do, and a look at what it would do. */
export const RestoreOrder = Type.Object({
  /** The site that is overwritten. */
  siteId: Type.Integer(),
  /** Whose backups these are. */
  sourceId: Type.Integer(),
  filesId: nullable(Type.Integer()),
  databaseId: nullable(Type.Integer()),
  paths: Type.Optional(Type.Array(Type.String())),
  tables: Type.Optional(Type.Array(Type.String())),
  /** Who is told of the end besides the owner. */
  askedById: Type.Integer(),
  /** The operation that is undone by it. */
  undoOf: Type.Optional(Type.Integer()),
  /** Of an undo of a sync: which of the files, with what they may lack. */
  scope: Type.Optional(Type.Object({ paths: Type.Array(Type.String()), except: Type.Array(Type.String()) })),
  /** Of an undo of a sync: the environment type becomes `to` again, if it is still the one that the sync has set. */
  environment: Type.Optional(Type.Object({ from: oneOf(environmentTypes), to: oneOf(environmentTypes) })),
})
export type RestoreOrder = Type.Static<typeof RestoreOrder>

/** What the account that asks needs, from the request until the end of the work. */
export const rightsOf = ({ siteId, sourceId }: Pick<RestoreOrder, 'siteId' | 'sourceId'>): readonly Needed[] =>
  [sourceId, siteId].map((id) => ({ siteId: id, capability: 'restore the site' }))

/**
 * Which of a site's files a restore is about.
 * @param stays paths that are never overwritten by this restore
 */
export function scopeOf({ paths, scope }: Pick<RestoreOrder, 'paths' | 'scope'>, stays: readonly string[]): FileScope {
  const meant = scope?.paths ?? paths ?? ['']
  // a part of what stays does, too
  const isOurs = (path: string) => !stays.some((each) => isAtOrBelow(path, each))
  return { paths: meant.filter(isOurs), except: [...(scope?.except ?? []), ...stays] }
}

/**
 * What is restored, for logs and mails: "the files of 2026-01-31 09:30 UTC and wp_posts of the database of …".
 * @param takenAt of the backups, milliseconds UTC
 */
export function inWords(
  takenAt: { files?: number | undefined; database?: number | undefined },
  { paths, tables }: Pick<RestoreOrder, 'paths' | 'tables'>,
): string {
  const at = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  const words = [
    takenAt.files !== undefined && `${partsOf(paths)}the files of ${at(takenAt.files)} UTC`,
    takenAt.database !== undefined && `${partsOf(tables)}the database of ${at(takenAt.database)} UTC`,
  ]
  return words.filter((each) => each !== false).join(' and ')
}

/** Parts that a text names. */
const MOST_NAMED = 3

function partsOf(names: readonly string[] | undefined): string {
  if (!names) return ''
  const more = names.length - MOST_NAMED
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''} of `
}
