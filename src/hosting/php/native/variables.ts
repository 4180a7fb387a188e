import type { RequestHead } from '../wasm/frames.ts'
import { joinHeaders, queryOf, serverEntries } from '../wasm/server-variables.ts'

/** A request as variables of CGI. */
export function variablesOf(head: RequestHead): Map<string, string> {
  return new Map([
    ['QUERY_STRING', queryOf(head)],
    ['REQUEST_METHOD', head.method],
    ['REQUEST_URI', head.path],
    // said in any case: without it php-fpm takes the body for as long as it takes
    ['CONTENT_LENGTH', String(head.bodyBytes)],
    ...serverEntries(head, joinHeaders(head.headers)),
  ])
}
