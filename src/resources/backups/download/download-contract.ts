import Type from 'typebox'
import { problems } from '../problems.ts'

/** The common part of both download endpoints. */
export const downloadContract = {
  description: [
    'A file backup is a `.tar.bz2` archive of the web root with the WordPress core. A database backup is SQL text.',
    'You can download parts and resume a download (`Range`, `If-Range` with the `ETag`). Stead creates archives during the download, so the first response has no `Content-Length`. If you request a part that was never created, Stead first searches for its start. If that takes longer than 50 seconds, or than `Prefer: wait=<seconds>`, the response is 503 `archive_length_unknown` with `Retry-After`.',
    'An application can run 4 downloads at a time.',
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
