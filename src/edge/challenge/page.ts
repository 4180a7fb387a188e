import { createHash } from 'node:crypto'
import { BITS } from './challenge-tokens.ts'

/** The path to which browsers post their solution. */
export const ANSWER_PATH = '/.well-known/stead/challenge'
export const ANSWER_HEADER = 'stead-answer'

/**
 * Finds the number, in JavaScript that the oldest browsers run. Not crypto.subtle: it does not exist on plain http, and
 * with a promise for each try it is many times slower on messages of one block.
 */
export const solver = `
function createSolver(seed, bits) {
  var K = [], H = [], W = new Int32Array(64), i, n
  for (n = 2; K.length < 64; n++) {
    for (i = 2; i * i <= n && n % i; i++);
    if (i * i <= n) continue
    var square = Math.sqrt(n), cube = Math.cbrt ? Math.cbrt(n) : Math.pow(n, 1 / 3)
    if (H.length < 8) H.push(((square - Math.floor(square)) * 4294967296) | 0)
    K.push(((cube - Math.floor(cube)) * 4294967296) | 0)
  }
  var k = new Int32Array(K)
  function firstWord(text) {
    var length = text.length, t
    for (t = 0; t < 16; t++) W[t] = 0
    for (t = 0; t < length; t++) W[t >> 2] |= text.charCodeAt(t) << (24 - (t & 3) * 8)
    W[length >> 2] |= 128 << (24 - (length & 3) * 8)
    W[15] = length * 8
    for (t = 16; t < 64; t++) {
      var x = W[t - 15], y = W[t - 2]
      W[t] = (((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)) + W[t - 7] +
        (((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)) + W[t - 16]
    }
    var a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7]
    for (t = 0; t < 64; t++) {
      var one = (h + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) +
        ((e & f) ^ (~e & g)) + k[t] + W[t]) | 0
      var two = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) +
        ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0
    }
    return (a + H[0]) >>> 0
  }
  var number = 0, limit = Math.pow(2, 32 - bits)
  return function (tries) {
    for (var end = number + tries; number < end; number++) if (firstWord(seed + ':' + number) < limit) return number
    return -1
  }
}`

/**
 * Works in steps, so that the page stays responsive. Counts its rounds, so that a browser without cookies does not
 * repeat them forever.
 */
const script = `${solver}
;(function () {
  var status = document.getElementById('status'), data = document.body.dataset
  function say(text) { status.textContent = text }
  var rounds = 0
  try {
    var before = JSON.parse(sessionStorage.getItem('stead-rounds') || '[]').filter(function (at) { return Date.now() - at < 60000 })
    rounds = before.length
    sessionStorage.setItem('stead-rounds', JSON.stringify(before.concat(Date.now())))
  } catch (error) {}
  if (!navigator.cookieEnabled || rounds > 4)
    return say('Your browser could not be checked. Please allow cookies for this site, then load the page again.')
  var next = createSolver(data.seed, Number(data.bits))
  function work() {
    var until = Date.now() + 40, found = -1
    while (found < 0 && Date.now() < until) found = next(500)
    if (found < 0) return setTimeout(work, 0)
    var request = new XMLHttpRequest()
    request.open('POST', '${ANSWER_PATH}')
    request.setRequestHeader('${ANSWER_HEADER}', data.token + ':' + found)
    request.onload = function () { location.reload() }
    request.onerror = function () { say('The connection was lost. Please load the page again.') }
    request.send()
  }
  setTimeout(work, 0)
})()`

const style =
  ':root{color-scheme:light dark}body{font:1.125rem/1.6 system-ui,sans-serif;max-width:36rem;margin:20vh auto 0;padding:0 1.5rem}h1{font-size:1.5rem;line-height:1.3}'

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Only this page's own script and style run, and nothing is loaded from elsewhere. */
export const CONTENT_SECURITY_POLICY = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`

const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>One moment, please</title>
<style>${style}</style>
</head>
`

const after = Buffer.from(`<main>
<h1>One moment, please</h1>
<p id="status" role="status" aria-live="polite">This site gets unusually many requests right now, so your browser is being checked. This takes a few seconds, then the page loads automatically.</p>
<noscript><p>This check needs JavaScript. Please turn it on for this site and load the page again, or come back later.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`)

/** Returns the challenge for a browser. Both texts consist of the URL-safe Base64 alphabet, dots, and digits. */
export const challengePage = ({ token, seed }: { token: string; seed: string }): Buffer =>
  Buffer.concat([Buffer.from(`${before}<body data-token="${token}" data-seed="${seed}" data-bits="${BITS}">\n`), after])
