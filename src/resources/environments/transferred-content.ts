import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import type { SyncOrder } from '../backups/public.ts'
import { problems } from './problems.ts'

const MOST_TABLES = 100
const folders = ['themes', 'plugins', 'mu-plugins', 'uploads', 'content', 'root'] as const
const presets = ['everything', 'code', 'content', 'chosen'] as const

/** Body of a push and of a pull. */
export const Transfer = Type.Object(
  {
    preset: oneOf(presets, { examples: ['chosen'] }),
    folders: Type.Optional(
      Type.Array(oneOf(folders), {
        minItems: 1,
        maxItems: folders.length,
        description:
          'Only for `chosen`. `content` is all of wp-content without themes, plugins and uploads. `root` is the web root without wp-content',
      }),
    ),
    database: Type.Optional(
      Type.Boolean({ description: 'Only for `chosen`: overwrite the whole database', examples: [false] }),
    ),
    tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f`]+$' }), {
        minItems: 1,
        maxItems: MOST_TABLES,
        description: 'Only for `chosen`: overwrite these tables. Others do not change',
        examples: [['wp_posts', 'wp_postmeta']],
      }),
    ),
    skip_http_check: Type.Optional(Type.Boolean({ description: 'Skip the homepage check', examples: [false] })),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Report what would be overwritten, without changing anything', examples: [true] }),
    ),
  },
  { title: 'Transfer' },
)
export type Transfer = Type.Static<typeof Transfer>

type Content = Pick<SyncOrder, 'parts' | 'database'>

const contents: Record<'everything' | 'code' | 'content', Content> = {
  everything: { parts: ['themes', 'plugins', 'uploads', 'content', 'root'], database: true },
  code: { parts: ['themes', 'plugins', 'mu-plugins'], database: false },
  content: { parts: ['uploads'], database: true },
}

/**
 * Returns what a push or pull overwrites.
 * @throws Problem `environment_of_nothing`
 */
export function contentOf({ preset, folders: parts, database, tables }: Transfer): Content {
  if (preset !== 'chosen') {
    for (const [field, value] of Object.entries({ folders: parts, database, tables }))
      if (value !== undefined) throw new Problem(problems.environment_of_nothing, { field, rule: ONLY_CHOSEN })
    return contents[preset]
  }
  if (database && tables) throw new Problem(problems.environment_of_nothing, { field: 'tables', rule: NOT_BOTH })
  if (!parts && !tables && !database)
    throw new Problem(problems.environment_of_nothing, { field: 'folders', rule: NOTHING })
  return { parts: [...new Set(parts)], database: tables ? [...new Set(tables)] : database === true }
}

const ONLY_CHOSEN = 'requires the preset chosen'
const NOT_BOTH = 'leave it out to overwrite the whole database'
const NOTHING = 'name folders, tables or the database, so that there is something to copy'
