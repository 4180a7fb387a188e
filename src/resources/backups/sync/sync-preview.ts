import Type from 'typebox'
import { nullable, Timestamp } from '../../../platform/http/schemas.ts'

const Files = Type.Object(
  {
    count: Type.Integer({ examples: [2] }),
    bytes: Type.Integer({ examples: [81920] }),
    first: Type.Array(Type.String({ examples: ['wp-content/themes/shop/style.css'] }), {
      description: 'First 100, ordered by path',
    }),
  },
  { title: 'SyncPreviewFiles' },
)

/** What a sync would change at the destination, and what the destination would lose. */
export const SyncPreview = Type.Object(
  {
    siteId: Type.Integer({ description: 'Site that the sync would overwrite' }),
    fromSiteId: Type.Integer({ description: 'Site that the sync would copy from' }),
    files: nullable(
      Type.Object(
        {
          added: Files,
          changed: Type.Object(
            {
              count: Type.Integer({ examples: [1] }),
              bytes: Type.Integer({ examples: [4096] }),
              first: Files.properties.first,
            },
            { title: 'SyncPreviewChangedFiles', description: 'Exist on both sites, with other content' },
          ),
          removed: Files,
        },
        {
          title: 'SyncPreviewOfFiles',
          description: 'The sync would add, change and delete these files. Null for a sync without files',
        },
      ),
    ),
    database: nullable(
      Type.Object(
        {
          since: nullable({
            ...Timestamp,
            description: 'When both sites last had the same database. Null if unknown: then everything counts as new',
          }),
          tables: Type.Array(
            Type.Object(
              {
                table: Type.String({ examples: ['wp_posts'] }),
                rows: nullable(
                  Type.Integer({ description: 'On the destination. Null without this table', examples: [12] }),
                ),
                fromRows: nullable(
                  Type.Integer({ description: 'On the source. Null without this table', examples: [14] }),
                ),
              },
              { title: 'SyncPreviewTable' },
            ),
            { description: 'Tables that the sync would overwrite. Up to 500, ordered by name' },
          ),
          counts: Type.Array(
            Type.Object(
              {
                table: Type.String({ examples: ['wp_posts'] }),
                kind: Type.String({
                  description: 'Type of the post or order, or comment or user',
                  examples: ['shop_order'],
                }),
                new: Type.Integer({ description: 'Created since then. The sync would delete them', examples: [3] }),
                changed: Type.Integer({ description: 'Changed since then. The sync would revert them', examples: [1] }),
              },
              { title: 'SyncPreviewCount' },
            ),
            { description: 'What is newer on the destination. Up to 1,000, largest first' },
          ),
          newest: Type.Array(
            Type.Object(
              {
                table: Type.String({ examples: ['wp_posts'] }),
                kind: Type.String({ examples: ['shop_order'] }),
                id: Type.Integer(),
                title: Type.String({ examples: ['A new post'] }),
                at: Type.String({ description: 'UTC', examples: ['2026-01-31 09:30:00'] }),
              },
              { title: 'SyncPreviewItem' },
            ),
            { description: 'The newest 100 entries that the sync would delete' },
          ),
        },
        { title: 'SyncPreviewOfDatabase', description: 'Null for a sync without the database' },
      ),
    ),
  },
  { title: 'SyncPreview' },
)
export type SyncPreview = Type.Static<typeof SyncPreview>
