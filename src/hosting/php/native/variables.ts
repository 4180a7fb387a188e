import type { RequestHead } from '../wasm/frames.ts'
import { joinHeaders, queryString, serverEntries } from '../wasm/server-variables.ts'

/** Converts a request to CGI variables. */
export function variablesOf(head: RequestHead): Map<string, string> {
  return new Map([
    ['QUERY_STRING', queryString(head)],
    ['REQUEST_METHOD', head.method],
    ['REQUEST_URI', head.path],
    // Always set, because otherwise php-fpm reads the body without a limit.
    ['CONTENT_LENGTH', String(head.bodyBytes)],
    ...serverEntries(head, joinHeaders(head.headers)),
  ])
}
