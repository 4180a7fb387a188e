import Type from 'typebox'
import { problems } from './problems.ts'

/** What both downloads have in common. */
export const downloadContract = {
  description: [
    'Files are a `.tar.bz2` of the web root with the WordPress core, a database is SQL text.',
    'It can be had in parts and gone on with (`Range`, `If-Range` with the `ETag`). Archives are made while they are downloaded: the first time one has no `Content-Length`, and a part that was never made is looked for, which takes its time, and is 503 `archive_length_unknown` with `Retry-After` when it takes more than 50 s, or what `Prefer: wait=<seconds>` says.',
    'An application may have 4 downloads at a time.',
  ].join(' '),
  style: 'stream',
  contentType: ['application/x-bzip2', 'application/sql'],
  ranges: true,
  etag: true,
  response: Type.String({ format: 'binary', description: 'The file', examples: ['…'] }),
  problems: [
    problems.backup_damaged,
    problems.too_many_downloads,
    problems.range_not_satisfiable,
    problems.archive_length_unknown,
  ],
} as const
