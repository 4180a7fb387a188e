import Type from 'typebox'
import { nullable, Timestamp } from '../../../platform/http/schemas.ts'

const Files = Type.Object(
  {
    count: Type.Integer({ examples: [2] }),
    bytes: Type.Integer({ examples: [81920] }),
    first: Type.Array(Type.String({ examples: ['wp-content/uploads/2026/01/boat.jpg'] }), {
      description: 'First 100, ordered by path',
    }),
  },
  { title: 'RestorePreviewFiles' },
)

/** What a restore would change at a site, and what it would lose. */
export const RestorePreview = Type.Object(
  {
    siteId: Type.Integer({ description: 'Site that the restore would overwrite' }),
    files: nullable(
      Type.Object(
        {
          takenAt: Timestamp,
          written: Files,
          removed: Files,
        },
        {
          title: 'RestorePreviewOfFiles',
          description:
            'The restore would add or change `written` files and delete `removed` files, which are not in the backup',
        },
      ),
    ),
    database: nullable(
      Type.Object(
        {
          takenAt: Timestamp,
          counts: Type.Array(
            Type.Object(
              {
                table: Type.String({ examples: ['wp_posts'] }),
                kind: Type.String({ description: 'Type of the post or order, or comment or user', examples: ['post'] }),
                new: Type.Integer({
                  description: 'Created since the backup. The restore would delete them',
                  examples: [3],
                }),
                changed: Type.Integer({
                  description: 'Changed since the backup. The restore would revert them',
                  examples: [1],
                }),
              },
              { title: 'RestorePreviewCount' },
            ),
            { description: 'Up to 1,000, largest first. For a network, the tables of all its sites' },
          ),
          newest: Type.Array(
            Type.Object(
              {
                table: Type.String({ examples: ['wp_posts'] }),
                kind: Type.String({ examples: ['post'] }),
                id: Type.Integer(),
                title: Type.String({ examples: ['A new post'] }),
                at: Type.String({ description: 'UTC', examples: ['2026-01-31 09:30:00'] }),
              },
              { title: 'RestorePreviewItem' },
            ),
            { description: 'The newest 100 entries that the restore would delete' },
          ),
        },
        { title: 'RestorePreviewOfDatabase' },
      ),
    ),
  },
  { title: 'RestorePreview' },
)
export type RestorePreview = Type.Static<typeof RestorePreview>
