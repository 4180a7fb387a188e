import Type from 'typebox'
import { nullable, Timestamp } from '../../platform/http/schemas.ts'

const Files = Type.Object(
  {
    count: Type.Integer({ examples: [2] }),
    bytes: Type.Integer({ examples: [81920] }),
    first: Type.Array(Type.String({ examples: ['wp-content/uploads/2026/01/boat.jpg'] }), {
      description: 'The first 100, by path',
    }),
  },
  { title: 'RestorePreviewFiles' },
)

/** What a restore would do to a site, and what it would lose. */
export const RestorePreview = Type.Object(
  {
    siteId: Type.Integer({ description: 'The site that would be overwritten' }),
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
            '`written` would come back, or be other than now; `removed` would be gone: they are not in the backup',
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
                kind: Type.String({ description: 'Type of the post or order; comment; user', examples: ['post'] }),
                new: Type.Integer({ description: 'Made since the backup: would be gone', examples: [3] }),
                changed: Type.Integer({ description: 'Changed since: would be as they were', examples: [1] }),
              },
              { title: 'RestorePreviewCount' },
            ),
            { description: 'The largest first, 1,000 at most; of a network those of all its sites' },
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
            { description: 'The newest 100 of what would be gone' },
          ),
        },
        { title: 'RestorePreviewOfDatabase' },
      ),
    ),
  },
  { title: 'RestorePreview' },
)
export type RestorePreview = Type.Static<typeof RestorePreview>
