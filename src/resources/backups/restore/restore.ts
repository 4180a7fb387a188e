import Type from 'typebox'
import type { FileScope } from '../../../hosting/site-files/file-content.ts'
import { isAtOrBelow } from '../../../hosting/site-files/paths.ts'
import { nullable, oneOf } from '../../../platform/http/schemas.ts'
import { someOf } from '../../../platform/some-of.ts'
import type { Needed } from '../../access/still-allowed.ts'
import { environmentTypes } from '../../sites/public.ts'
import { BackupId } from '../backup.ts'

/** How many parts one request may name. */
const MOST_PARTS = 100

/** Path as backups store it: relative to the web root, without empty, `.` or `..` parts. */
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

/** Input of a restore, and of its preview. */
export const RestoreOrder = Type.Object({
  /** The site to overwrite. */
  siteId: Type.Integer(),
  /** The site that the backups belong to. */
  sourceId: Type.Integer(),
  filesId: nullable(Type.Integer()),
  databaseId: nullable(Type.Integer()),
  paths: Type.Optional(Type.Array(Type.String())),
  tables: Type.Optional(Type.Array(Type.String())),
  /** The account that gets a mail at the end, in addition to the owner. */
  askedById: Type.Integer(),
  /** The operation that this restore undoes. */
  undoOf: Type.Optional(Type.Integer()),
  /** Only when undoing a sync: the affected files, and those it may skip. */
  scope: Type.Optional(Type.Object({ paths: Type.Array(Type.String()), except: Type.Array(Type.String()) })),
  /** Only when undoing a sync: resets the environment type to `to`, if it is still the one that the sync set. */
  environment: Type.Optional(Type.Object({ from: oneOf(environmentTypes), to: oneOf(environmentTypes) })),
})
export type RestoreOrder = Type.Static<typeof RestoreOrder>

/** Returns the access that the requesting account needs, from the request until the work ends. */
export const rightsOfRestore = ({ siteId, sourceId }: Pick<RestoreOrder, 'siteId' | 'sourceId'>): readonly Needed[] =>
  [sourceId, siteId].map((id) => ({ siteId: id, capability: 'restore the site' }))

/**
 * Returns which of a site's files a restore affects.
 * @param stays paths that this restore never overwrites
 */
export function scopeOfRestore(
  { paths, scope }: Pick<RestoreOrder, 'paths' | 'scope'>,
  stays: readonly string[],
): FileScope {
  const meant = scope?.paths ?? paths ?? ['']
  // Anything below a path that stays also stays.
  const isOurs = (path: string) => !stays.some((each) => isAtOrBelow(path, each))
  return { paths: meant.filter(isOurs), except: [...(scope?.except ?? []), ...stays] }
}

/**
 * Describes what is restored, for logs and mails: "the files of 2026-01-31 09:30 UTC and wp_posts of the database of
 * …".
 * @param takenAt of the backups, milliseconds UTC
 */
export function describeRestore(
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

/** How many parts a text names. */
const MOST_NAMED = 3

function partsOf(names: readonly string[] | undefined): string {
  return names ? `${someOf(names, MOST_NAMED)} of ` : ''
}
