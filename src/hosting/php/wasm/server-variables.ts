import type { RequestHead } from './frames.ts'

/** Returns a request's headers by name, in lower case, without those that no script may see. */
export function joinHeaders(pairs: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const name = (pairs[index] as string).toLowerCase()
    // An underscore would pass for a hyphen in $_SERVER. `Proxy` would become HTTP_PROXY, which libraries trust.
    if (name.includes('_') || name === 'proxy' || name === 'content-length') continue
    const before = headers.get(name)
    const value = pairs[index + 1] as string
    headers.set(name, before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`)
  }
  return headers
}

/** Returns the entries of `$_SERVER`, for either PHP runtime. */
export function serverEntries(head: RequestHead, headers: ReadonlyMap<string, string>): Map<string, string> {
  const scriptName = head.script.replace(/^\/wordpress(?=\/)/, '')
  const entries = new Map([
    ['DOCUMENT_ROOT', '/wordpress'],
    ['GATEWAY_INTERFACE', 'CGI/1.1'],
    ['PHP_SELF', scriptName],
    ['REMOTE_ADDR', head.remoteAddress],
    ['REQUEST_SCHEME', head.https ? 'https' : 'http'],
    ['SCRIPT_FILENAME', head.script],
    ['SCRIPT_NAME', scriptName],
    ['SERVER_NAME', head.host.replace(/:\d+$/, '')],
    ['SERVER_PORT', String(portOf(head))],
    ['SERVER_PROTOCOL', 'HTTP/1.1'],
    // By this name, WordPress decides how to write rewrite rules for Apache and nginx. Both understand "any path goes
    // to index.php".
    ['SERVER_SOFTWARE', 'Apache'],
  ])
  const pathInfo = pathInfoOf(head.path, scriptName)
  if (pathInfo !== '') entries.set('PATH_INFO', pathInfo).set('PHP_SELF', `${scriptName}${pathInfo}`)
  if (head.https) entries.set('HTTPS', 'on')
  if (head.bodyBytes > 0) entries.set('CONTENT_LENGTH', String(head.bodyBytes))
  for (const [name, value] of headers) {
    const upper = name.toUpperCase().replaceAll('-', '_')
    entries.set(name === 'content-type' ? upper : `HTTP_${upper}`, value)
  }
  return entries
}

/** Returns what follows the script's name in a path, as Apache provides it: decoded, repeated slashes as one. */
function pathInfoOf(target: string, scriptName: string): string {
  // Most paths name no script.
  if (!/\.php(?:\/|%2f)|%/i.test(target)) return ''
  try {
    const path = decodeURIComponent(target.split('?', 1)[0] as string).replace(/\/+/g, '/')
    return path.startsWith(`${scriptName}/`) ? path.slice(scriptName.length) : ''
  } catch {
    return ''
  }
}

/** Returns the user and password that a visitor sends with `Authorization: Basic`. php-fpm finds them itself. */
export function credentialEntries(authorization: string | undefined): [string, string][] {
  const [, scheme = '', given = ''] = /^(basic|digest) +(.*)$/is.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'digest') return [['PHP_AUTH_DIGEST', given]]
  const decoded = Buffer.from(given, 'base64').toString()
  const colon = decoded.indexOf(':')
  if (scheme === '' || colon < 0) return []
  return [
    ['PHP_AUTH_USER', decoded.slice(0, colon)],
    ['PHP_AUTH_PW', decoded.slice(colon + 1)],
  ]
}

export function queryString({ path, query }: RequestHead): string {
  if (query !== undefined) return query
  const at = path.indexOf('?')
  return at < 0 ? '' : path.slice(at + 1)
}

export function portOf(head: RequestHead): number {
  const port = Number(/:(\d+)$/.exec(head.host)?.[1])
  return port > 0 && port < 65_536 ? port : head.https ? 443 : 80
}
